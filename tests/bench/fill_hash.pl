# SPDX-License-Identifier: MIT
# fill_hash.pl - heap work of a program in Perl: 200000 keys, about 4 events of malloc and free each
my %table;
$table{"key $_"} = $_ for 1 .. 200000;
