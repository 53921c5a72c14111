/// The content of a predicate, as a value. Two are equal if both have the same parts in the same order.
///
/// Obtained from any predicate by ``predicateTree(of:)``.
package indirect enum PredicateTree: Hashable, Sendable {
    /// `TRUEPREDICATE`, `FALSEPREDICATE`
    case constant(Bool)
    /// `age >= 18`
    case comparison(ComparisonTree)
    /// `a AND b AND c`; true without parts.
    case and([PredicateTree])
    /// `a OR b OR c`; false without parts.
    case or([PredicateTree])
    /// `NOT a`
    case not(PredicateTree)
}
