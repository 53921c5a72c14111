/// The outcome of a predicate: comparing with `nil` is neither true nor false, as in SQL.
///
/// What satisfies a predicate is what it is `true` for. `NOT` of the unknown is unknown: an object without an age is found by
/// neither `age < 18` nor `NOT age < 18`, in memory as in a store.
package enum Truth: UInt8, Sendable {
    case `false`
    case `true`
    case unknown

    @inline(__always)
    package init(_ value: Bool) {
        self = value ? .true : .false
    }

    package var negated: Truth {
        switch self {
        case .false: .true
        case .true: .false
        case .unknown: .unknown
        }
    }
}
