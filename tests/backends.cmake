# SPDX-License-Identifier: MIT
#
# Which backends the tests run under.
#
# AMUX_TEST_BACKENDS: our own; each folder of backends/ is one, and "system".
# AMUX_TEST_EXTERNALS: the unmodified libraries installed here; AMUX_LIB_name is
# the path of each.
# AMUX_LIBC: the C library.
set(AMUX_TEST_BACKENDS system)
file(GLOB folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/*)
foreach(folder ${folders})
	get_filename_component(name ${folder} NAME)
	if(IS_DIRECTORY ${folder} AND NOT name STREQUAL "external"
		AND NOT name STREQUAL "system")
		list(APPEND AMUX_TEST_BACKENDS ${name})
	endif()
endforeach()

set(AMUX_TEST_EXTERNALS)
function(amux_external name file)
	find_file(AMUX_LIB_${name} ${file}
		PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib64 /usr/lib
		NO_DEFAULT_PATH)
	if(AMUX_LIB_${name})
		set(AMUX_TEST_EXTERNALS ${AMUX_TEST_EXTERNALS} ${name}
			PARENT_SCOPE)
	endif()
endfunction()
amux_external(jemalloc libjemalloc.so.2)
amux_external(tcmalloc libtcmalloc_minimal.so.4)
amux_external(mimalloc libmimalloc.so.2)
amux_external(tbb libtbbmalloc_proxy.so.2)

execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libc.so.6
	OUTPUT_VARIABLE AMUX_LIBC OUTPUT_STRIP_TRAILING_WHITESPACE)
