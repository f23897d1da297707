/* mesh.h: tetrahedral meshes for test triangles: the nodes of a grid without those that are left out, each cell
 * cut into six tetrahedra along its diagonal from (0, 0, 0) to (1, 1, 1).  So a node has up to 14 neighbours. */
#ifndef TRS_BIN_MESH_H
#define TRS_BIN_MESH_H

#include <stdint.h>

enum { MESH_NEIGHBOURS = 14 };

typedef struct problem_mesh {
    int64_t size;    /* nodes along an edge of the grid */
    int32_t *number; /* [size^3] row of each node; -1: it is left out */
    int32_t *node;   /* [rows] of each row */
    int64_t rows;
} problem_mesh;

/* Neighbour k < MESH_NEIGHBOURS of a node; -1: there is none. */
int64_t problem_mesh_neighbour(const problem_mesh *m, int64_t node, int k);

/* Number the nodes whose number is not negative; node has room for all of them.  By reverse Cuthill-McKee (George 1971),
 * breadth first from node (0, 0, 0), from which no node is more than size - 1 steps away, as cells are cut along that diagonal;
 * or along the curve of Morton (1966), which has all nodes of an octant of the cube before those of the next, and so within
 * octants. */
void problem_mesh_by_cuthill_mckee(problem_mesh *m);
void problem_mesh_by_curve(problem_mesh *m);

#endif
