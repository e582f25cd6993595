/* SPDX-License-Identifier: MIT */
/*
 * memtrack_control.h - how the runner switches memtrack: requests and answers of one byte each over
 * a pair of sequenced-packet sockets, one end inherited by memtrack.
 */
#ifndef CORE_MEMTRACK_CONTROL_H
#define CORE_MEMTRACK_CONTROL_H

#define MEMTRACK_ENABLE 'E'
#define MEMTRACK_DISABLE 'D'
#define MEMTRACK_PING 'P'

#define MEMTRACK_OK 'A'
#define MEMTRACK_REFUSED 'X'

#endif
