/* SPDX-License-Identifier: MIT */
/* process_tree.h - the processes of a benchmark, parents before children, with lines to draw */
#ifndef REPORT_PROCESS_TREE_H
#define REPORT_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "applets/runner/results/result.h"
#include "core/buf.h"

/* Indices of processes; PROCESS_NONE where there is none. */
enum { PROCESS_NONE = -1 };

struct process_node {
	int parent;
	int first_child;
	int next_sibling;
	size_t count;                /* processes that this line stands for */
	struct measure instructions; /* of all of them */
};

/* A longer run of childless siblings with one command is one line: a script forks by hundreds. */
enum { PROCESS_RUN_SHOWN = 8 };

struct process_tree {
	struct process_node *nodes; /* one a process, in the same order */
	int first;
};

/*
 * The parent is the newest earlier process with the right pid: pids are used again, and a file
 * may claim anything, yet there is never a circle. Processes without a parent are siblings.
 */
void process_tree_init(struct process_tree *tree, const struct benchmark *benchmark);
void process_tree_release(struct process_tree *tree);

/* The process to show after `at`, PROCESS_NONE after the last one. The first is tree->first. */
int process_tree_next(const struct process_tree *tree, int at);

/* Append the lines in front of process `at`, two columns a level; deep levels share a column. */
void process_tree_draw(const struct process_tree *tree, int at, bool utf8, struct buf *to);

#endif
