/* SPDX-License-Identifier: MIT */
/*
 * log.h - messages to standard error, one write() each so that lines of several processes do not
 * mix. Results never go through here.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

enum log_level { LOG_OFF, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

/* Name in front of every message; reads the level from CODSPEED_LOG (default info). */
void log_init(const char *name);
const char *log_name(void);
bool log_enabled(enum log_level level);

/* Called before each message, so that a progress line on the same terminal can go. NULL: none. */
void log_set_interlude(void (*before)(void));

#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)
void log_at(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
