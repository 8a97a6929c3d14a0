// The code of Boost.JSON, compiled here alone: two doors read JSON and share one copy of it.
#include <boost/json/src.hpp>
