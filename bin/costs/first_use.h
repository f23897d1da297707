/* first_use.h: what steps cost on this CPU, measured in the first run of a program on it and kept for later ones. */
#ifndef TRS_BIN_COSTS_FIRST_USE_H
#define TRS_BIN_COSTS_FIRST_USE_H

/* See to it that plans go by costs of this CPU: measure them, in a quarter of a second, and write them to the user's
 * cache, unless they are there, or TRISOLVE_MACHINE or TRISOLVE_NO_CALIBRATE is set.  Nothing is said about it, and where
 * there is no cache that can be written to nothing is done. */
void know_this_cpu(void);

#endif
