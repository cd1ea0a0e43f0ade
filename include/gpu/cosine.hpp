#pragma once
#include <gpu/all_pairs.hpp>
