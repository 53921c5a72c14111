import CoreDataModel
import PredicateFormat

/// How a derived attribute is computed, if a store can compute it.
package enum Derivation: Equatable {
    /// `now()`: the time of the save.
    case now
    /// A value of the object itself, or one behind a to-one relationship, unchanged or through an SQL function: `name`,
    /// `author.name`, `canonical:(name)`.
    case value(path: [String], function: SQLFunction?)
    /// `pages.@count`, `pages.number.@sum`: over the destinations of a to-many relationship.
    case aggregate(relationship: String, function: Aggregate, attribute: String?)

    /// A function of many values, by its SQL name.
    package enum Aggregate: String, Sendable {
        case count = "COUNT"
        case sum = "SUM"
        case minimum = "MIN"
        case maximum = "MAX"
        case average = "AVG"
    }

    package init?(_ tree: ExpressionTree) {
        switch tree {
        case .function(.now, _): self = .now
        case .keyPath(let path): self.init(path: path, function: nil)
        case .function(.uppercase, let arguments): self.init(arguments, .uppercase)
        case .function(.lowercase, let arguments): self.init(arguments, .lowercase)
        case .function(.canonical, let arguments): self.init(arguments, .canonical)
        case .function(.count, let arguments): self.init(aggregating: arguments, .count)
        case .function(.sum, let arguments): self.init(aggregating: arguments, .sum)
        case .function(.minimum, let arguments): self.init(aggregating: arguments, .minimum)
        case .function(.maximum, let arguments): self.init(aggregating: arguments, .maximum)
        case .function(.average, let arguments): self.init(aggregating: arguments, .average)
        default: return nil
        }
    }

    private init?(_ arguments: [ExpressionTree], _ function: SQLFunction) {
        guard arguments.count == 1, case .keyPath(let path) = arguments[0] else { return nil }
        self.init(path: path, function: function)
    }

    private init?(path: [String], function: SQLFunction?) {
        guard let position = path.firstIndex(where: { $0.hasPrefix("@") }) else {
            guard !path.isEmpty, path.count <= 2 else { return nil }
            self = .value(path: path, function: function)
            return
        }
        let aggregates: [String: Aggregate] = [
            "@count": .count, "@sum": .sum, "@min": .minimum, "@max": .maximum, "@avg": .average,
        ]
        guard function == nil, let aggregate = aggregates[path[position]] else { return nil }
        self.init(keys: Array(path[..<position] + path[(position + 1)...]), aggregate)
    }

    private init?(aggregating arguments: [ExpressionTree], _ function: Aggregate) {
        guard arguments.count == 1, case .keyPath(let path) = arguments[0] else { return nil }
        self.init(keys: path, function)
    }

    private init?(keys: [String], _ function: Aggregate) {
        guard keys.count == (function == .count ? 1 : 2) else { return nil }
        self = .aggregate(relationship: keys[0], function: function, attribute: keys.count > 1 ? keys[1] : nil)
    }
}
