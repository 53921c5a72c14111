/// What a predicate says, as a value: equal to another when both say the same in the same words.
///
/// Obtained from any predicate by ``predicateTree(of:)``.
package indirect enum PredicateTree: Hashable, Sendable {
    /// `TRUEPREDICATE`, `FALSEPREDICATE`
    case constant(Bool)
    /// `age >= 18`
    case comparison(ComparisonTree)
    /// `a AND b AND c`; none at all is true.
    case and([PredicateTree])
    /// `a OR b OR c`; none at all is false.
    case or([PredicateTree])
    /// `NOT a`
    case not(PredicateTree)
}
