"""Publications that several test functions cite."""

ANDREI = "Andrei 2008, An unconstrained optimization test functions collection, Advanced Modeling and Optimization 10"
CUTEST = "Gould, Orban and Toint 2015, CUTEst, Computational Optimization and Applications 60"
DIXON_SZEGO = "Dixon and Szego 1978, Towards Global Optimisation 2"
HEDAR = "Hedar 2005, Global Optimization Test Problems"
JAMIL_YANG = "Jamil and Yang 2013, arXiv:1308.4008"
RAHNAMAYAN = "Rahnamayan, Tizhoosh and Salama 2007, Computers and Mathematics with Applications 53(10)"
