// The eager tape without Python: derivatives against dual numbers, reclaiming against a tape that keeps everything.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "burlab/burlab.hpp"
#include "expect.hpp"

using namespace burlab;

namespace {

/// Up to the rounding of a few operations.
template <class T> bool close(T a, T b) {
  const double tolerance = sizeof(T) == 8 ? 1e-12 : 2e-4;
  return std::fabs(a - b) <= tolerance * std::fmax(1, std::fmax(std::fabs(a), std::fabs(b)));
}

template <class T, class U> T tiny(T a, T b, U one) {
  const T e = (a + b) - (a * b + b * b * b);
  return e * e / (one + one);
}
template <class T, class U> T many(T a, T b, U one) {
  using std::atan2, std::cos, std::erf, std::exp, std::log, std::pow, std::sin, std::sqrt, std::tanh;
  const T c = exp(a) + log(b) * sqrt(b) - sin(a * b) / cos(a);
  return tanh(c) + erf(b) * pow(b, a) + atan2(a, b) + (one - c) * (c - one) + -a / (one + b * b);
}

/// Partial derivatives by forward mode, which shares the operations but none of the tape.
template <class T, class F> void check_against_duals(F f, T x, T y, const char* what) {
  TapeOf<T> tape;
  const ValueOf<T> a(tape, x), b(tape, y);
  const ValueOf<T> z = f(a, b, 1.0);
  expect(z.backward() == Ok && tape.status() == Ok, what);
  const auto by_x = f(Dual<T>(x, 1), Dual<T>(y, 0), Dual<T>(1));
  const auto by_y = f(Dual<T>(x, 0), Dual<T>(y, 1), Dual<T>(1));
  expect(close(z.data(), by_x.value) && close(a.grad(), by_x.tangent) && close(b.grad(), by_y.tangent), what);
}

template <class T> void derivatives() {
  check_against_duals<T>([](auto a, auto b, auto one) { return tiny(a, b, one); }, -41, 2, "tiny graph");
  for (const double x : {-0.5, 0.25, 1.25})
    check_against_duals<T>([](auto a, auto b, auto one) { return many(a, b, one); }, static_cast<T>(x), T(1.75),
                           "many functions");
}

template <class T> void sequences() {
  using Value = ValueOf<T>;
  TapeOf<T> tape;
  std::vector<Value> xs;
  for (int k = 0; k < 10; ++k) xs.emplace_back(tape, 0.5 * k - 1.9);
  const Value root = dot(xs, xs) + sum_of_squares(xs) * 2.0 - reduce_mean(xs) + logsumexp(xs) * variance(xs, 1) +
                     reduce_prod(xs) * negative_mean(xs) + mean_of_squares(xs) + reduce_sum(xs);
  expect(root.backward() == Ok, "sequences");
  for (std::size_t k = 0; k < xs.size(); ++k) {  // against central differences, by replay
    const T slope = xs[k].grad(), x = xs[k].data(), step = sizeof(T) == 8 ? T(1e-6) : T(1e-2);
    xs[k].set_data(x + step);
    tape.replay();
    const T above = root.data();
    xs[k].set_data(x - step);
    tape.replay();
    const T below = root.data(), difference = (above - below) / (2 * step);
    xs[k].set_data(x);
    tape.replay();
    const T tolerance = sizeof(T) == 8 ? T(1e-5) : T(5e-3);
    expect(std::fabs(slope - difference) < tolerance * (1 + std::fabs(slope)), "derivative of a sequence");
  }
}

template <class T> std::uint32_t edges_in_use(const TapeOf<T>& tape) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 1; i < tape.nodes.size; ++i) count += tape.nodes[i].wide() ? tape.nodes[i].edges() : 0;
  return count;
}

template <class T> void marks() {
  using Tape = TapeOf<T>;
  using Value = ValueOf<T>;
  Tape tape;
  expect(tape.size() == 0 && tape.bytes().nodes == 0, "an empty tape needs no memory");
  tape.rewind(tape.mark());
  const Value a(tape, 3.0);
  const Mark mark = tape.mark();
  Value old;
  for (int k = 0; k < 5000; ++k) {
    tape.rewind(mark);
    const std::vector<Value> xs{a, a * 2.0, a};
    old = sum_of_squares(xs) * a;
    old.backward();
  }
  expect(close(a.grad(), T(6 * 3 * 9)) && tape.size() == 4, "rewinding keeps what came before");
  tape.rewind(mark);
  expect(tape.edges.size == edges_in_use(tape), "edges are cut off with their nodes");
  expect(!old.held() && std::isnan(old.data()), "what was cut off is not held");
  const TapeBytes before = tape.bytes();
  tape.rewind({0, 0});
  expect(tape.size() == 0 && tape.bytes().nodes == before.nodes, "rewinding to the start keeps the memory");
  const Value b(tape, 2.0);
  (b * b).backward();
  expect(b.grad() == 4, "a tape that was emptied goes on");
}

template <class T> void errors() {
  using Tape = TapeOf<T>;
  using Value = ValueOf<T>;
  Tape one, two;
  const Value a(one, 1.0), b(two, 2.0), nothing;
  expect(!(nothing + nothing).held() && !(nothing * 2.0).held(), "nothing plus nothing");
  expect(!(a + b).held() && one.status() == TwoTapes && two.status() == Ok, "two tapes");
  expect(!((a + b) * a).held() && one.status() == TwoTapes, "the first error sticks");
  one.clear_status();
  expect(!(a + nothing).held() && one.status() == StaleValue, "a value of no tape");
  one.clear_status();
  expect((nothing + a).backward() == StaleValue && one.status() == StaleValue, "backward from what is not held");
  one.clear_status();
  const std::vector<Value> mixed{a, b};
  expect(!reduce_sum(mixed).held() && one.status() == TwoTapes, "a sequence of two tapes");
  one.clear_status();
  expect(!dot(mixed, std::vector<Value>{a}).held() && one.status() == IndexOutOfRange, "sequences of two lengths");
  one.clear_status();
  const Value two_ = 2.0, three = two_ + 1;
  expect(three.is_constant() && three.data() == 3 && three.grad() == 0 && three.backward() == Ok, "constants");
  expect(reduce_sum(std::vector<Value>{two_, three}).data() == 5 && tanh(Value(0.0)).data() == 0,
         "functions of constants");
  const Value c = a * two_;
  expect(c.backward() == Ok && a.grad() == 2 && one.status() == Ok, "the tape is usable again");
  expect(nothing.backward() == StaleValue && std::isnan(nothing.grad()), "backward from nothing");
}

template <class T> void sweeps() {
  using Tape = TapeOf<T>;
  using Value = ValueOf<T>;
  Tape tape;
  const Value x(tape, 3.0), y(tape, 5.0);
  const Value shared = x * y;
  Value foreign = y;
  for (int k = 0; k < 100000; ++k) foreign = foreign * 1.0;
  const Value f = shared * x + tanh(shared), g = shared + x;
  f.backward();
  const T fx = x.grad(), fs = shared.grad();
  Tape alone;  // the same without foreign nodes
  const Value u(alone, 3.0), v(alone, 5.0), product = u * v;
  (product * u + tanh(product)).backward();
  expect(fx == u.grad() && y.grad() == v.grad() && fs == product.grad(), "foreign nodes change no gradient");
  g.backward();
  const T gx = x.grad(), gs = shared.grad();
  f.backward();
  expect(x.grad() == fx && shared.grad() == fs, "fresh gradients");
  g.backward(true);
  expect(x.grad() == fx + gx && shared.grad() == fs + gs && foreign.grad() == 0, "accumulated gradients");
  tape.epoch = NodeOf<T>::last_epoch - 7;  // the numbers of sweeps wrap around, between these and the next
  for (int k = 0; k < 8; ++k) {
    f.backward();
    expect(x.grad() == fx && shared.grad() == fs, "gradients when the numbers of sweeps wrap");
    foreign.backward();
    g.backward();
    expect(x.grad() == gx && shared.grad() == gs, "gradients of the other root when they wrap");
  }
}

int released = 0;
void count_release(void*) { ++released; }

/// Handles that live and die at random on a tape that reclaims, beside the same on one that keeps everything.
template <class T> struct Twins {
  using Tape = TapeOf<T>;
  using Value = ValueOf<T>;

  std::mt19937_64 random{20240611};
  Tape kept, reclaiming;
  std::vector<Handle*> handles;
  std::vector<Value> twins;

  Twins() {
    reclaiming.reclaims = true;
    reclaiming.labels.release = count_release;
  }
  ~Twins() {
    for (Handle* handle : handles) delete handle;
  }
  std::size_t below(std::size_t n) { return random() % n; }
  void hold(std::uint32_t index, Value twin) {
    handles.push_back(new Handle{nullptr, index, 0});
    expect(reclaiming.holders.enter(handles.back()), "room for a handle");
    reclaiming.holders.hold(reclaiming.nodes[index], handles.back());
    twins.push_back(twin);
  }
  void abandon(std::size_t k) {
    reclaiming.holders.hold(reclaiming.nodes[handles[k]->index], nullptr);
    reclaiming.holders.leave(handles[k]);
    delete handles[k];
    handles.erase(handles.begin() + static_cast<std::ptrdiff_t>(k));
    twins.erase(twins.begin() + static_cast<std::ptrdiff_t>(k));
    if (below(2)) reclaiming.pop_unheld();
  }
  Handle* holder(std::size_t k) { return reclaiming.holders.of(reclaiming.nodes[handles[k]->index]); }
  Value ours(std::size_t k) { return Value::at(reclaiming, handles[k]->index); }

  void step() {
    if (reclaiming.nodes.size == reclaiming.nodes.capacity) expect(reclaiming.make_room(), "room");
    if (handles.size() < 5 || below(20) == 0) {
      const double x = static_cast<double>(below(1000)) / 500 - 1;
      return hold(Value(reclaiming, x).index(), Value(kept, x));
    }
    const std::size_t i = below(handles.size()), j = below(handles.size());
    Value x = ours(i), y = ours(j), u = twins[i], v = twins[j];
    const auto both = [&](auto f) { hold(f(x, y).index(), f(u, v)); };
    switch (below(5)) {
      case 0:
        both([](Value p, Value q) { return p + q * 0.5; });
        break;
      case 1:
        both([](Value p, Value q) { return tanh(p - q); });
        break;
      case 2:
        both([](Value p, Value q) { return p * q; });
        break;
      case 3:
        both([](Value p, Value q) { return sum_of_squares(std::vector<Value>{p, q, p}) * 0.25; });
        break;
      default:
        both([](Value p, Value q) { return sin(p / (2.0 + q * q)); });
        break;
    }
    if (below(10) == 0 &&
        (!reclaiming.labels.size() || reclaiming.labels[reclaiming.labels.size() - 1].node < handles.back()->index))
      expect(reclaiming.labels.add(handles.back()->index, nullptr), "room for a label");
    if (std::fabs(twins.back().data()) > 1e3) abandon(handles.size() - 1);
    while (handles.size() > 40) abandon(below(handles.size()));
  }
  void check() {
    const std::size_t root = below(handles.size());
    ours(root).backward();
    twins[root].backward();
    bool same = true;
    for (std::size_t k = 0; k < handles.size(); ++k) {
      expect(ours(k).held() && holder(k) == handles[k], "a handle finds its node");
      same = same && ours(k).data() == twins[k].data();
    }
    expect(same, "values after reclaiming");
    expect(reclaiming.edges.size == edges_in_use(reclaiming), "edges go with their nodes");
    // A gradient that this root does not reach is that of an earlier one, on both tapes.
    for (std::size_t k = 0; k < handles.size(); ++k)
      expect(close(ours(k).grad(), twins[k].grad()), "gradients after reclaiming");
  }
};

template <class T> void reclaiming() {
  released = 0;
  Twins<T> twins;
  for (int round = 0; round < 400; ++round) {
    for (int k = 0; k < 100; ++k) twins.step();
    twins.check();
    while (round % 20 == 19 && !twins.handles.empty()) twins.abandon(0);
  }
  expect(twins.kept.size() > 40000 && twins.reclaiming.collections > 5, "there was something to reclaim");
  expect(twins.reclaiming.size() < twins.kept.size() / 4, "the tape stays small");
  for (std::uint32_t k = 1; k < twins.reclaiming.labels.size(); ++k)
    expect(twins.reclaiming.labels[k - 1].node < twins.reclaiming.labels[k].node, "labels stay in order");
  expect(released > 0, "labels of dead nodes are released");
}

/// What functions saw in a sweep: the nodes in order, first before and then after, and the gradients.
template <class T> struct Seen {
  std::vector<std::uint32_t> nodes;
  std::vector<T> gradients;
  T factor = 1;
  std::size_t most = SIZE_MAX;
  Status inner = Ok;

  static bool see(TapeOf<T>& tape, std::uint32_t node, void* context) {
    Seen& seen = *static_cast<Seen*>(context);
    seen.nodes.push_back(node);
    seen.gradients.push_back(tape.nodes[node].gradient);
    tape.nodes[node].gradient *= seen.factor;
    for (int k = 0; k < 1000; ++k) (ValueOf<T>::at(tape, node) * 2.0).held();  // the nodes move in memory
    seen.inner = tape.backward(node);
    tape.rewind({1, 0});
    tape.clear_status();
    return seen.nodes.size() < seen.most;
  }
};

template <class T> void callbacks() {
  using Value = ValueOf<T>;
  TapeOf<T> tape;
  tape.callbacks.release = [](CallbackOf<T>) { ++released; };
  tape.reclaims = true;
  const Value x(tape, 3.0), y(tape, 5.0), product = x * y, f = product * product + x;
  Seen<T> seen;
  released = 0;
  for (const Value value : {x, product})
    expect(tape.on_backward(value.index(), {Seen<T>::see, Seen<T>::see, &seen}) == Ok, "functions at a node");
  expect(f.backward() == Ok && f.backward(true) == Ok, "a sweep that calls functions");
  const std::vector<std::uint32_t> order{product.index(), product.index(), x.index(), x.index()};
  expect(std::vector(seen.nodes.begin(), seen.nodes.begin() + 4) == order, "newest first, before and after");
  expect(seen.gradients == std::vector<T>{30, 30, 151, 151, 30, 30, 151, 151}, "gradients of a sweep are complete");
  expect(seen.inner == Sweeping && f.held(), "a sweep inside of a sweep, and going back in one, are refused");
  expect(x.grad() == 302 && y.grad() == 180 && product.grad() == 60, "accumulated gradients");
  seen.factor = 2;
  expect(f.backward() == Ok && product.grad() == 120 && y.grad() == 180 && x.grad() == 1204,
         "functions change gradients");
  seen.factor = 1;
  seen.nodes.clear();
  seen.most = 1;
  expect(f.backward() == Stopped && seen.nodes.size() == 1, "a function ends the sweep");
  expect(tape.on_backward(product.index(), {nullptr, nullptr, nullptr}) == Ok && released == 1, "taken away");
  tape.rewind({2, 0});
  expect(tape.callbacks.size() == 1, "functions are dropped with their nodes");
  tape.rewind({1, 0});
  expect(tape.callbacks.size() == 0 && released == 2, "and released");
}

template <class T> void all() {
  derivatives<T>();
  sequences<T>();
  marks<T>();
  errors<T>();
  sweeps<T>();
  reclaiming<T>();
  callbacks<T>();
}

}  // namespace

int main() {
  all<double>();
  all<float>();
  return failures != 0;
}
