# Everything comes from the system by find_package; nothing is downloaded.
# fmt and Boost.Math are used as headers inside the library and do not reach its users.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(Threads REQUIRED)
