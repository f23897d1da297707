/* parts.cuh: the parts of a triangle that is cut by rows over the devices of a host, and what their files share.
 *
 *     row      0 ..            n/2 ..               n-1
 *              part 0          part 1                         on devices [0], devices [1]: numbers go down only
 *
 * A part is a triangle of its own, a flow of cuda-dataflow on its device.  Its first rows are the *ghosts*: rows of earlier
 * parts whose x it needs, ascending.  They have a node each, at their level, but no entries; whoever computes such a row
 * stores its x in the y of that node. */
#ifndef TRS_PARTS_CUH
#define TRS_PARTS_CUH

#include "cuda/dataflow/dataflow.cuh"

/* Where a number of x is sent: node `node` of part `part`; ~part for the last one of a row. */
struct peer_target {
    int32_t part, node;
};

struct peer_part {
    trs_context ctx; /* as that of the plan, but for its device */
    int home;        /* the first part on the same device: they share a stream */
    int32_t begin, rows, ghosts;
    int64_t first, entries; /* of its rows, in the operator; diagonals included */
    int32_t levels;         /* from the first one of its rows to the last one */
    trs_flow flow;
    void *memory;      /* where the next three are */
    void *val, *inv;   /* [nnz of the flow], [nodes] */
    int32_t *row_node; /* [ghosts+rows] node of each row */
    /* [nodes] where in target the list of its row begins, -1: nowhere; NULL: no row of the part is sent */
    int32_t *push;
    peer_target *target;
    /* [rows] row_node without the ghosts, on the first device; NULL: the part is there */
    int32_t *mirror_node;
    int warps; /* of a block that solve */
    /* of a launch where warps copy x from y meanwhile, and where they do not */
    int blocks_copying, blocks;
    size_t shared; /* bytes of a block */
};

struct peers_data {
    trs_dtype dtype;
    int parts;
    peer_part part[TRS_MOST_DEVICES];
};

/* ---- cut.cu: from an operator that is on the host ------------------------------------------------------------- */

/* d is zero before; after a failure, what is there has to be freed all the same. */
int peers_cut(trs_operator *op, peers_data *d);
/* val: of the operator, on the host.  It waits. */
int peers_take(const peers_data *d, const void *val);
void peers_free(peers_data *d);

/* ---- part.cu: the kernel ------------------------------------------------------------------------------------- */

enum { PEERS_LONGEST = TRS_FLOW_WIDE_LONGEST + 1 }; /* entries of a row, its diagonal included */

int part_new(peer_part *part, trs_dtype dtype); /* warps, blocks, shared; the rest is there */

/* A solve of a part, on its device, in the order of a stream. */
struct part_job {
    trs_view b, x; /* from its first row on */
    void *y;       /* [nodes] */
    /* y of each part, on its device */
    void *there[TRS_MOST_DEVICES];
    /* [nodes] on the first device: x goes there in the order of nodes; NULL: it goes to x */
    void *mirror;
    bool conj;
    cudaStream_t stream;
};

int part_solve(const peer_part *part, trs_dtype dtype, const part_job *job);
/* x from the mirror, on the first device. */
int part_pass(const peer_part *part, trs_dtype dtype, const part_job *job);

/* ---- solve.cu: all parts in the order of the caller's stream ---------------------------------------------------- */

int peers_connect(const peers_data *d); /* let the devices access the memory of one another */
int peers_work_create(const trs_instance *inst, trs_context *ctx, int nrhs, void **work);
void peers_work_destroy(trs_context *ctx, void *work);
int peers_solve(const trs_instance *inst, const trs_job *job);

#endif
