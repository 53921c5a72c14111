import CompactCollections
import StoreSession

extension Filter: CustomStringConvertible {
    /// The filter in the predicate language.
    public var description: String { term.text }
}

extension FilterTerm {
    fileprivate var text: String {
        switch self {
        case .all: "TRUEPREDICATE"
        case .predicate(let predicate): "\(predicate)"
        case .comparison(let property, let comparison, let value):
            "\(property.shown) \(comparison.symbol) \(Self.text(of: value))"
        case .list(let property, let values):
            "\(property.shown) IN {\(values.map(Self.text).joined(separator: ", "))}"
        case .members(let property, let term, let condition): condition.text(property.shown, term)
        case .and(let parts): parts.terms.map(\.inner).joined(separator: " AND ")
        case .or(let parts): parts.terms.map(\.inner).joined(separator: " OR ")
        case .not(let term): "NOT \(term.inner)"
        case .failed(let error): "(\(error.localizedDescription))"
        }
    }

    /// The text as a part of a larger one.
    private var inner: String {
        switch self {
        case .and, .or, .predicate: "(\(text))"
        default: text
        }
    }

    private static func text(of value: any Encodable) -> String {
        if let optional = value as? any OptionalValue {
            return optional.wrappedValue.map { text(of: $0) } ?? "nil"
        }
        if let model = value as? any CoreModel { return text(of: model.id) }
        // A single value of another type as the store compares it, such as an enumeration's raw value.
        guard !(value is any Numeric), !(value is Bool), let stored = try? AttributeEncoder.comparable(value) else {
            return "\(value)"
        }
        return NSExpression(forConstantValue: stored).description
    }
}

extension MemberCondition {
    fileprivate func text(_ list: String, _ term: FilterTerm) -> String {
        let members = if case .all = term { list } else { "\(list)[\(Filter<Void>(term: term))]" }
        switch self {
        case .any: return "ANY \(members)"
        case .none: return "NONE \(members)"
        case .all: return "ALL \(members)"
        case .count(let least, let most):
            guard let most else { return "\(members).@count >= \(least)" }
            return least == most ? "\(members).@count == \(least)" : "\(members).@count BETWEEN {\(least), \(most)}"
        }
    }
}

extension PropertyName {
    /// The path as the predicate language has it: keywords are marked, as in `#any == 3`.
    fileprivate var shown: String {
        path.map { NSExpression(forKeyPath: $0).description } ?? spelling
    }
}
