# What both ways to build share: the sources that are plain C++, the kernels' launchers, and how all of it is compiled.
get_filename_component(GN_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(GLOB GN_HOST_SOURCES CONFIGURE_DEPENDS "${GN_ROOT}/host_api/*.cpp" "${GN_ROOT}/npu/*.cpp")
# Each .asc file has one kernel, unchanged, and the function that launches it.
file(GLOB GN_LAUNCHERS CONFIGURE_DEPENDS "${GN_ROOT}/npu/*.asc")
set(GN_MORE_LAUNCHERS "" CACHE PATH "A folder with .asc files of further kernels, which include theirs as those here do")
if(GN_MORE_LAUNCHERS)
  file(GLOB more "${GN_MORE_LAUNCHERS}/*.asc")
  list(APPEND GN_LAUNCHERS ${more})
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${GN_LAUNCHERS})
# Plans name a tiling header without its folder.
file(GLOB GN_TILINGS CONFIGURE_DEPENDS "${GN_ROOT}/*/*_tiling.h")
set(GN_TILING_FOLDERS "")
foreach(header ${GN_TILINGS})
  get_filename_component(folder "${header}" DIRECTORY)
  list(APPEND GN_TILING_FOLDERS "${folder}")
endforeach()
list(REMOVE_DUPLICATES GN_TILING_FOLDERS)

# launchables.cpp: the table of launchers.h, of the .asc files. A launcher reads each parameter of its kernel once, as args[...].
set(declarations "")
set(rows "")
foreach(asc ${GN_LAUNCHERS})
  get_filename_component(entry "${asc}" NAME_WE)
  file(READ "${asc}" text)
  string(REGEX MATCHALL "args\\[[0-9]+\\]" arguments "${text}")
  list(LENGTH arguments count)
  string(APPEND declarations "extern \"C\" void gn_launch_${entry}(uint32_t blocks, void* stream, void* const* args);\n")
  string(APPEND rows "    {\"${entry}\", ${count}, gn_launch_${entry}},\n")
endforeach()
file(WRITE "${CMAKE_BINARY_DIR}/launchables.cpp"
  "// Written by kernels/npu/sources.cmake.\n"
  "#include \"launchers.h\"\n\n"
  "${declarations}\n"
  "const GnLaunchable kGnLaunchables[] = {\n"
  "${rows}"
  "    {nullptr, 0, nullptr},\n"
  "};\n")
list(APPEND GN_HOST_SOURCES "${CMAKE_BINARY_DIR}/launchables.cpp")

function(gn_host_settings target)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release PARENT_SCOPE)
  endif()
  target_include_directories(${target} PRIVATE
    "${GN_ROOT}/host_api" "${GN_ROOT}/npu" ${GN_TILING_FOLDERS} "$ENV{ASCEND_HOME_PATH}/include")
  target_link_directories(${target} PRIVATE "$ENV{ASCEND_HOME_PATH}/lib64")
  # Hidden, and no unique symbols: the twin's library in the same process has the same names.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-std=c++20;-fvisibility=hidden;-fvisibility-inlines-hidden;-Wall;-Wextra>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>")
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE ascendcl pthread)
endfunction()
