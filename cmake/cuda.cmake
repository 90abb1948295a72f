# The CUDA backend, compiled by nvcc into the library kernels.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # Ampere; Hopper, and what comes after it through PTX
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
    message(FATAL_ERROR "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than 12: configure with -DDEFT_CUDA=OFF or set CUDACXX")
endif()
# CMake 3.25.1 does not know yet that nvcc 12 takes C++20.
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
find_package(CUDAToolkit 12 REQUIRED)

file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*.cu
    ${PROJECT_SOURCE_DIR}/kernels/bench/cuda/*.cu)
add_library(kernels_cuda STATIC ${cuda_sources})
target_include_directories(kernels_cuda PRIVATE ${PROJECT_SOURCE_DIR})
if(DEFT_WARNINGS_ARE_ERRORS)
    target_compile_options(kernels_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
target_link_libraries(kernels_cuda PUBLIC base CUDA::cudart_static CUDA::cublasLt)
# Plans and records of products are host code; the compile options of that library are no options of nvcc.
target_link_libraries(kernels_cuda INTERFACE $<LINK_ONLY:kernels>)
target_compile_definitions(kernels PUBLIC DEFT_CUDA)
target_link_libraries(kernels PUBLIC kernels_cuda)
