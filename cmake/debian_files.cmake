# Debian's own names and forms of what CPack has staged: a packed manual page, a copyright file, a changelog in Debian's
# format, and Debian's folder of completions for zsh.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
file(RENAME ${share}/doc/deft/LICENSE ${share}/doc/deft/copyright)
file(MAKE_DIRECTORY ${share}/zsh/vendor-completions)
file(RENAME ${share}/zsh/site-functions/_deft ${share}/zsh/vendor-completions/_deft)
file(REMOVE_RECURSE ${share}/zsh/site-functions)

# The date of the commit, so that equal sources give equal files.
execute_process(COMMAND git -C ${CMAKE_CURRENT_LIST_DIR} log -1 --format=%aD OUTPUT_VARIABLE date
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT date)
    execute_process(COMMAND date -R OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
file(WRITE ${share}/doc/deft/changelog "deft (${CPACK_PACKAGE_VERSION}) unstable; urgency=low\n\n"
    "  * Version ${CPACK_PACKAGE_VERSION}: see CHANGELOG.md in this folder.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
execute_process(COMMAND gzip -9n ${share}/man/man1/deft.1 ${share}/doc/deft/changelog COMMAND_ERROR_IS_FATAL ANY)
