# What both ways to build share: the sources that are plain C++, and how they are compiled.
get_filename_component(GN_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(GLOB GN_HOST_SOURCES CONFIGURE_DEPENDS "${GN_ROOT}/host_api/*.cpp" "${GN_ROOT}/npu/*.cpp")

function(gn_host_settings target)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release PARENT_SCOPE)
  endif()
  target_include_directories(${target} PRIVATE
    "${GN_ROOT}/host_api" "${GN_ROOT}/npu" "${GN_ROOT}/common"
    "${GN_ROOT}/group_norm" "${GN_ROOT}/group_norm_backward" "${GN_ROOT}/linear" "${GN_ROOT}/strided_copy"
    "$ENV{ASCEND_HOME_PATH}/include")
  target_link_directories(${target} PRIVATE "$ENV{ASCEND_HOME_PATH}/lib64")
  # Hidden, and no unique symbols: the twin's library in the same process has the same names.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-std=c++20;-fvisibility=hidden;-fvisibility-inlines-hidden;-Wall;-Wextra>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>")
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE ascendcl pthread)
endfunction()
