/* mesh.c: tetrahedral meshes, in two orders (mesh.h). */
#include "config.h"

#include "mesh.h"

int64_t problem_mesh_neighbour(const problem_mesh *m, int64_t node, int k)
{
    const int corner = k / 2 + 1,
              by = k % 2 ? 1 : -1; /* of the cell: bit d is set if it is one step along axis d */
    int64_t other = 0, step = 1;
    for (int d = 0; d < 3; d++, step *= m->size) {
        const int64_t at = node / step % m->size + by * (corner >> d & 1);
        if (at < 0 || at >= m->size) return -1;
        other += at * step;
    }
    return m->number[other] < 0 ? -1 : other;
}

/* ---- reverse Cuthill-McKee ---------------------------------------------------------------------- */

enum { NEW = 0, SEEN = 1 }; /* number of a node before all are seen */

static int degree(const problem_mesh *m, int64_t node)
{
    int count = 0;
    for (int k = 0; k < MESH_NEIGHBOURS; k++) count += problem_mesh_neighbour(m, node, k) >= 0;
    return count;
}

/* Appends the neighbours of a node that are new, those with few neighbours first. */
static void visit(problem_mesh *m, int64_t node)
{
    int degrees[MESH_NEIGHBOURS];
    const int64_t begin = m->rows;
    for (int k = 0; k < MESH_NEIGHBOURS; k++) {
        const int64_t other = problem_mesh_neighbour(m, node, k);
        if (other < 0 || m->number[other] != NEW) continue;
        m->number[other] = SEEN;
        const int mine = degree(m, other);
        int64_t at = m->rows++;
        for (; at > begin && degrees[at - begin - 1] > mine; at--) {
            m->node[at] = m->node[at - 1];
            degrees[at - begin] = degrees[at - begin - 1];
        }
        m->node[at] = (int32_t)other;
        degrees[at - begin] = mine;
    }
}

/* Breadth first from the first node of each part of the mesh. */
void problem_mesh_by_cuthill_mckee(problem_mesh *m)
{
    const int64_t nodes = m->size * m->size * m->size;
    int64_t done = 0;
    m->rows = 0;
    for (int64_t root = 0; root < nodes; root++) {
        if (m->number[root] != NEW) continue;
        m->number[root] = SEEN;
        m->node[m->rows++] = (int32_t)root;
        while (done < m->rows) visit(m, m->node[done++]);
    }
    for (int64_t k = 0; k < m->rows / 2; k++) {
        const int32_t other = m->node[m->rows - 1 - k];
        m->node[m->rows - 1 - k] = m->node[k];
        m->node[k] = other;
    }
    for (int64_t k = 0; k < m->rows; k++) m->number[m->node[k]] = (int32_t)k;
}

/* ---- the curve ---------------------------------------------------------------------------------- */

/* The nodes of a cube that begins at at [0..2], with edge nodes, a power of two, along each axis. */
static void number_octants(problem_mesh *m, const int64_t at[3], int64_t edge)
{
    if (at[0] >= m->size || at[1] >= m->size || at[2] >= m->size) return;
    if (edge == 1) {
        const int64_t node = at[0] + m->size * (at[1] + m->size * at[2]);
        if (m->number[node] < 0) return;
        m->number[node] = (int32_t)m->rows;
        m->node[m->rows++] = (int32_t)node;
        return;
    }
    for (int k = 0; k < 8; k++) {
        int64_t from[3];
        for (int d = 0; d < 3; d++) from[d] = at[d] + (k >> d & 1) * (edge / 2);
        number_octants(m, from, edge / 2);
    }
}

void problem_mesh_by_curve(problem_mesh *m)
{
    const int64_t origin[3] = {0, 0, 0};
    int64_t edge = 1;
    while (edge < m->size) edge *= 2;
    m->rows = 0;
    number_octants(m, origin, edge);
}
