# Sets DEFT_HAS_NCCL: whether NCCL is there, in the folder NCCL_ROOT (a variable of CMake or of the environment), in CUDA's
# toolkit or in the system.
set(DEFT_HAS_NCCL OFF)
if(NOT DEFT_CUDA)
    return()
endif()
set(nccl_hints ${NCCL_ROOT} $ENV{NCCL_ROOT} ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_LIBRARY_DIR}/..)
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${nccl_hints} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(NCCL_LIBRARY nccl HINTS ${nccl_hints} ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(DEFT_HAS_NCCL ON)
endif()
message(STATUS "NCCL: ${NCCL_LIBRARY}")
