/* script.h: the script trisolve-report, which draws for the programs. */
#ifndef TRS_BIN_SCRIPT_H
#define TRS_BIN_SCRIPT_H

#include <stdio.h>

/* Checks that the script can run.  option is the option of the program that needs it, for the
 * sentence.  Returns an exit code. */
int script_check(const char *option);

/* Lets the script read in, which is rewound, write to out (NULL: nowhere), and do what its own
 * option with that value says.  Returns an exit code, with a sentence. */
int script_run(const char *option, const char *value, FILE *in, FILE *out);

#endif
