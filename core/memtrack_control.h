/* SPDX-License-Identifier: MIT */
/*
 * memtrack_control.h - how the runner switches memtrack: requests and answers over a pair of
 * sequenced-packet sockets, one end inherited by memtrack. An answer that comes too late is known
 * by its number, and not taken for that of the next request.
 */
#ifndef CORE_MEMTRACK_CONTROL_H
#define CORE_MEMTRACK_CONTROL_H

#define MEMTRACK_ENABLE 'E'
#define MEMTRACK_DISABLE 'D'

#define MEMTRACK_OK 'A'
#define MEMTRACK_REFUSED 'X'

struct memtrack_packet {
	char what;            /* of the above */
	unsigned char number; /* of the request, also in its answer */
};

#endif
