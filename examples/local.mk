# examples: users of the installed headers and of nothing else; tests/package/examples.sh runs them
EXAMPLES = examples/01_solve_once examples/02_solve_many examples/04_preconditioned_cg \
	examples/06_device_arrays examples/07_inverse examples/09_assembly
if HAVE_CUDA
EXAMPLES += examples/03_stream_and_graph
endif
if HAVE_SUITESPARSE
EXAMPLES += examples/05_factors_of_umfpack examples/08_nonlinear_heat examples/10_interior_point \
	examples/11_circuit_sweep examples/12_two_levels
endif
noinst_PROGRAMS += $(EXAMPLES)
# those that only tests/package/examples.sh needs: they take long to compile
SLOW_EXAMPLES =
EXTRA_DIST += examples/README.md
examples_01_solve_once_LDADD = $(TRISOLVE)
examples_02_solve_many_LDADD = $(TRISOLVE)
examples_03_stream_and_graph_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
examples_03_stream_and_graph_LDADD = $(TRISOLVE) $(CUDA_LIBS)
examples_04_preconditioned_cg_LDADD = $(TRISOLVE)
examples_05_factors_of_umfpack_LDADD = $(FACTOR_LIBS) $(TRISOLVE)
examples_06_device_arrays_LDADD = $(TRISOLVE)
examples_07_inverse_LDADD = $(TRISOLVE)
examples_09_assembly_LDADD = $(TRISOLVE)
examples_08_nonlinear_heat_LDADD = $(FACTOR_LIBS) $(TRISOLVE)
examples_10_interior_point_LDADD = $(FACTOR_LIBS) $(TRISOLVE)
examples_11_circuit_sweep_LDADD = $(FACTOR_LIBS) $(TRISOLVE)
examples_12_two_levels_LDADD = $(FACTOR_LIBS) $(TRISOLVE)
