# Debian's own names and forms of what CPack has staged: packed manual page and changelog, a copyright file, and the folder of
# completions for zsh.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
file(RENAME ${share}/doc/deft/LICENSE ${share}/doc/deft/copyright)
file(RENAME ${share}/doc/deft/CHANGELOG.md ${share}/doc/deft/changelog)
file(MAKE_DIRECTORY ${share}/zsh/vendor-completions)
file(RENAME ${share}/zsh/site-functions/_deft ${share}/zsh/vendor-completions/_deft)
file(REMOVE_RECURSE ${share}/zsh/site-functions)
execute_process(COMMAND gzip -9n ${share}/man/man1/deft.1 ${share}/doc/deft/changelog COMMAND_ERROR_IS_FATAL ANY)
