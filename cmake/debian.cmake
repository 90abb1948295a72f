# `cpack -G DEB` in a build folder makes deft_VERSION_ARCHITECTURE.deb. Its dependencies are those of the libraries that
# this build links, with their versions.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME deft)
set(CPACK_PACKAGE_VENDOR "deft maintainers")
set(CPACK_PACKAGE_CONTACT "deft maintainers <maintainers@deft.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measures whether training techniques save data, time and money")
set(CPACK_PACKAGE_DESCRIPTION
"deft trains language and image models on CPUs and GPUs, with curriculum
learning, random layerwise token dropping and mixtures of experts. It evaluates
each recipe, compares recipes over seeds, and stores every result with its
provenance.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "git, python3")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake)
include(CPack)
