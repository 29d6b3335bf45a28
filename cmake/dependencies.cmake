# dependencies.cmake - every outside library, found once. Versions and reasons: third_party/README.md.
find_package(Threads REQUIRED)
find_package(TBB REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
add_library(salient_xxhash INTERFACE)
add_library(salient::xxhash ALIAS salient_xxhash)
target_include_directories(salient_xxhash SYSTEM INTERFACE "${XXHASH_INCLUDE_DIR}")
target_link_libraries(salient_xxhash INTERFACE "${XXHASH_LIBRARY}")
