import PredicateFormat
import SQLGeneration
import CoreDataModel

/// What a derived attribute is computed from, as far as a store can compute it.
package enum Derivation: Equatable {
    /// `now()`: the time of the save.
    case now
    /// A value of the object itself, or one behind a to-one relationship, as it is or through a function of SQL:
    /// `name`, `author.name`, `canonical:(name)`.
    case value(path: [String], function: String?)
    /// `pages.@count`, `pages.number.@sum`: of the destinations of a to-many relationship.
    case aggregate(relationship: String, function: String, attribute: String?)

    package init?(_ tree: ExpressionTree) {
        switch tree {
        case .function(.now, _): self = .now
        case .keyPath(let path): self.init(path: path, function: nil)
        case .function(.uppercase, let arguments): self.init(arguments, SQLFunctionName.uppercase)
        case .function(.lowercase, let arguments): self.init(arguments, SQLFunctionName.lowercase)
        case .function(.canonical, let arguments): self.init(arguments, SQLFunctionName.canonical)
        case .function(.count, let arguments): self.init(aggregating: arguments, "COUNT")
        case .function(.sum, let arguments): self.init(aggregating: arguments, "SUM")
        case .function(.minimum, let arguments): self.init(aggregating: arguments, "MIN")
        case .function(.maximum, let arguments): self.init(aggregating: arguments, "MAX")
        case .function(.average, let arguments): self.init(aggregating: arguments, "AVG")
        default: return nil
        }
    }

    private init?(_ arguments: [ExpressionTree], _ function: String) {
        guard arguments.count == 1, case .keyPath(let path) = arguments[0] else { return nil }
        self.init(path: path, function: function)
    }

    private init?(path: [String], function: String?) {
        guard let position = path.firstIndex(where: { $0.hasPrefix("@") }) else {
            guard !path.isEmpty, path.count <= 2 else { return nil }
            self = .value(path: path, function: function)
            return
        }
        let names = ["@count": "COUNT", "@sum": "SUM", "@min": "MIN", "@max": "MAX", "@avg": "AVG"]
        guard function == nil, let name = names[path[position]] else { return nil }
        self.init(keys: Array(path[..<position] + path[(position + 1)...]), name)
    }

    private init?(aggregating arguments: [ExpressionTree], _ function: String) {
        guard arguments.count == 1, case .keyPath(let path) = arguments[0] else { return nil }
        self.init(keys: path, function)
    }

    private init?(keys: [String], _ function: String) {
        guard keys.count == (function == "COUNT" ? 1 : 2) else { return nil }
        self = .aggregate(relationship: keys[0], function: function, attribute: keys.count > 1 ? keys[1] : nil)
    }
}
