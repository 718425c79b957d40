/* SPDX-License-Identifier: MIT */
/*
 * commands.h - the subcommands, in the order in which help lists them.
 *
 * Each line stands for a `const struct command command_NAME` elsewhere.
 * Not guarded: included by allocmux.c alone, with COMMAND() defined.
 */
COMMAND(run)
COMMAND(list)
COMMAND(options)
COMMAND(compare)
COMMAND(bench)
COMMAND(replay)
COMMAND(attach)
COMMAND(detach)
COMMAND(status)
COMMAND(switch)
COMMAND(trim)
COMMAND(trace)
COMMAND(report)
COMMAND(leaks)
COMMAND(diff)
COMMAND(export)
COMMAND(completion)
COMMAND(manual)
