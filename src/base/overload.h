// std::visit with lambdas: std::visit(Overload{[](const A&) {...}, [](const B&) {...}}, variant).
#pragma once

namespace drover {

template <class... Fs>
struct Overload : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overload(Fs...) -> Overload<Fs...>;

}  // namespace drover
