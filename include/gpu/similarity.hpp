#pragma once
/// @file
/// Everything: include this, or the header of the one operation you use.

#include <gpu/array.hpp>
#include <gpu/backend.hpp>
#include <gpu/binary_matmul.hpp>
#include <gpu/bit_matrix.hpp>
#include <gpu/device_sinks.hpp>
#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/index.hpp>
#include <gpu/matmul.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/matrix_view.hpp>
#include <gpu/mean_filter.hpp>
#include <gpu/nan_policy.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>
#include <gpu/pearson.hpp>
#include <gpu/plan.hpp>
#include <gpu/rank.hpp>
#include <gpu/row_patterns.hpp>
#include <gpu/spearman.hpp>
#include <gpu/top_k.hpp>
#include <gpu/version.hpp>
