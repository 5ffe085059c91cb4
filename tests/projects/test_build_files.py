"""What a test's build makes, read from CMakeLists.txt and from a compiler's command line."""

from pathlib import Path

import pytest

from gn_tutorial.errors import ArgumentError
from gn_tutorial.projects.test_runner.build_files import ProgramPlan, object_text, read_cmake, read_compiler


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_cpp", ".cpp").replace("_txt", ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def only(folder: Path, text: str, **environment: str) -> ProgramPlan:
    (folder / "CMakeLists.txt").write_text(text)
    [plan] = read_cmake(folder, folder / "build", environment, {})
    return plan


def test_sources_folders_definitions_and_the_folder_of_programs(tmp_path: Path) -> None:
    plan = only(
        tmp_path,
        """
        # add_executable(commented main.cpp)
        project(example)
        set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "../output")
        set(INC_PATH $ENV{DDK_PATH})
        if (NOT DEFINED ENV{DDK_PATH})
            set(INC_PATH "$ENV{OTHER}")
        endif ()
        include_directories(${INC_PATH}/include ../inc SYSTEM ${CMAKE_CURRENT_SOURCE_DIR}/more)
        add_compile_options(-std=c++11 -DFROM_OPTIONS=2 -Wall)
        add_compile_definitions(PLAIN NAMED=3)
        set(SOURCES operator_desc.cpp main.cpp)
        list(APPEND SOURCES late.cpp)
        add_executable(run_${PROJECT_NAME} ${SOURCES} readme.md)
        target_compile_definitions(run_example PRIVATE OWN="text")
        target_include_directories(run_example PRIVATE own)
        target_link_libraries(run_example ascendcl stdc++)
        """,
        DDK_PATH="/ddk",
        OTHER="/other",
    )
    assert plan.path == tmp_path / "output" / "run_example"
    assert plan.sources == tuple(tmp_path / name for name in ("operator_desc.cpp", "main.cpp", "late.cpp"))
    assert plan.include_dirs == (tmp_path / "own", Path("/other/include"), tmp_path.parent / "inc", tmp_path / "more")
    assert plan.defines == ("FROM_OPTIONS=2", "PLAIN", "NAMED=3", 'OWN="text"')


def test_lists_of_files(tmp_path: Path) -> None:
    write(tmp_path, src__a_cpp="", src__b_cpp="", other__c_cpp="")
    lists = "aux_source_directory(src A)\nfile(GLOB B other/*.cpp)\n"
    plan = only(tmp_path, lists + "add_executable(x ${A} ${B} src/a.cpp)\n")
    assert [one.name for one in plan.sources] == ["a.cpp", "b.cpp", "c.cpp"]
    assert plan.path == tmp_path / "build" / "x"


def test_folders_below_and_several_programs(tmp_path: Path) -> None:
    write(tmp_path, app__CMakeLists_txt="add_executable(one ../main.cpp)\nset_target_properties(one PROPERTIES "
          "RUNTIME_OUTPUT_DIRECTORY ${CMAKE_SOURCE_DIR}/out)\n")  # fmt: skip
    (tmp_path / "CMakeLists.txt").write_text("add_subdirectory(app)\nadd_executable(two second.cpp)\n")
    one, two = read_cmake(tmp_path, tmp_path / "build", {}, {})
    assert one == ProgramPlan(tmp_path / "out" / "one", (tmp_path / "main.cpp",))
    assert two == ProgramPlan(tmp_path / "build" / "two", (tmp_path / "second.cpp",))


def test_variables_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("add_executable(${NAME} main.cpp)\n")
    [plan] = read_cmake(tmp_path, tmp_path, {}, {"NAME": "given"})
    assert plan.path.name == "given"


def test_operators_make_no_program(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("find_package(ASC REQUIRED)\nnpu_op_package(a TYPE RUN)\n")
    assert read_cmake(tmp_path, tmp_path, {}, {}) == []


def test_folders_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("add_subdirectory(.)\n")
    with pytest.raises(ArgumentError, match="more than 32 folders"):
        read_cmake(tmp_path, tmp_path, {}, {})
    (tmp_path / "CMakeLists.txt").write_text("add_subdirectory(missing)\n")
    with pytest.raises(ArgumentError, match=r"there is no CMakeLists\.txt"):
        read_cmake(tmp_path, tmp_path, {}, {})


def test_a_line_of_the_compiler(tmp_path: Path) -> None:
    write(tmp_path, main_cpp="")
    words = "-std=c++17 -O2 -I. -I inc -isystem sys -DA -D B=1 -Llib -L lib main.cpp -lacl_rt -Wl,-rpath,x -o bin/run"
    call = read_compiler(words.split(), tmp_path)
    folders = (tmp_path, tmp_path / "inc", tmp_path / "sys")
    assert call.plan == ProgramPlan(tmp_path / "bin" / "run", (tmp_path / "main.cpp",), folders, ("A", "B=1"))
    assert not call.compiles_only
    assert read_compiler(["main.cpp"], tmp_path).plan.path == tmp_path / "a.out"


def test_objects_first(tmp_path: Path) -> None:
    write(tmp_path, main_cpp="", part_cpp="")
    call = read_compiler(["-c", "part.cpp", "-Iinc", "-DX"], tmp_path)
    assert call.compiles_only
    assert call.plan.path == tmp_path / "part.o"
    call.plan.path.write_text(object_text(call.plan))
    plan = read_compiler(["main.cpp", "part.o", "-o", "run"], tmp_path).plan
    assert plan.sources == (tmp_path / "main.cpp", tmp_path / "part.cpp")
    assert (plan.include_dirs, plan.defines) == ((tmp_path / "inc",), ("X",))


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["-o", "x"], "the compiler is given no source"),
        (["none.cpp"], "there is no file none.cpp"),
        (["none.o"], "none.o is no object file of this test"),
    ],
)
def test_what_makes_no_program(tmp_path: Path, words: list[str], what: str) -> None:
    with pytest.raises(ArgumentError, match=what):
        read_compiler(words, tmp_path)
