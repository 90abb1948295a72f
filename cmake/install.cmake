# `cmake --install` copies, and packages contain: the program, its files, documentation, manual page and completions.
# The program and share/deft may be moved together: the program finds its files relative to itself.
include(GNUInstallDirs)

# A wheel keeps the program inside its Python package (pyproject.toml); a shell looks for these in the environment.
set(deft_shared ${CMAKE_INSTALL_DATAROOTDIR})
if(SKBUILD)
    set(deft_shared ${SKBUILD_DATA_DIR}/share)
endif()

install(TARGETS deft)
install(FILES experiments/datasets.toml experiments/hardware.toml experiments/suites.toml DESTINATION share/deft/experiments)
install(DIRECTORY experiments/tasks experiments/presets DESTINATION share/deft/experiments)
install(DIRECTORY reporting/paper DESTINATION share/deft/reporting)
install(DIRECTORY evidence DESTINATION share/deft FILES_MATCHING PATTERN *.jsonl PATTERN *.json
    PATTERN *.svg)
install(FILES engine/bench/pytorch_model.py engine/bench/pytorch_step.py engine/bench/pytorch_ddp.py
    engine/bench/pytorch_experts.py engine/bench/analyzer_numpy.py engine/bench/huggingface_generate.py
    DESTINATION share/deft/engine/bench)
file(GLOB sweep_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sweeps/*.toml)
install(FILES ${sweep_files} DESTINATION share/deft/sweeps)
install(DIRECTORY schema DESTINATION share/deft)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${deft_shared}/doc/deft)
install(DIRECTORY docs DESTINATION ${deft_shared}/doc/deft FILES_MATCHING PATTERN *.md)

# Where a file is installed now, in `file`: below the prefix where it is relative, and below DESTDIR.
# deft_destination(code file)
function(deft_destination code file)
    set(${code} "set(file [[${file}]])
    if(NOT IS_ABSOLUTE \"\${file}\")
        set(file \"\${CMAKE_INSTALL_PREFIX}/\${file}\")
    endif()
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${file}\")
    set(file \"\$ENV{DESTDIR}\${file}\")" PARENT_SCOPE)
endfunction()

# The commit of the files, for provenance. Without a checkout it is unknown; a checkout around the installation is another's.
deft_destination(destination share/deft/commit)
install(CODE "${destination}
    execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=GIT_DIR --unset=GIT_WORK_TREE --unset=GIT_INDEX_FILE
        git -C [[${PROJECT_SOURCE_DIR}]] describe --always --dirty --abbrev=40 --exclude=*
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT commit)
        set(commit unknown)
    endif()
    file(WRITE \"\${file}\" \"\${commit}\\n\")")

# The program prints its own manual page and completions. It does so here, so that a build does not run it. A machine that
# cannot run it, such as one without CUDA's driver, installs none.
# deft_printed(file command...)
function(deft_printed file)
    list(JOIN ARGN "]] [[" words)
    deft_destination(destination ${deft_shared}/${file})
    install(CODE "${destination}
    get_filename_component(folder \"\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND [[$<TARGET_FILE:deft>]] [[${words}]] OUTPUT_FILE \"\${file}\" RESULT_VARIABLE failed)
    if(failed)
        file(REMOVE \"\${file}\")
        message(WARNING \"\${file} is not installed: the program does not run here (\${failed})\")
    endif()")
endfunction()
deft_printed(man/man1/deft.1 man)
deft_printed(bash-completion/completions/deft completion bash)
deft_printed(zsh/site-functions/_deft completion zsh)
deft_printed(fish/vendor_completions.d/deft.fish completion fish)

include(cmake/debian.cmake)
