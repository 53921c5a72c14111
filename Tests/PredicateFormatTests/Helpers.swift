import PredicateFormat

/// The tree of a format string.
func tree(_ format: String, _ arguments: Any?...) throws -> PredicateTree {
    try predicateTree(parsing: format, arguments: arguments.map { Value($0) })
}

/// A format string parsed and printed.
func printed(_ format: String, _ arguments: Any?...) throws -> String {
    try predicateTree(parsing: format, arguments: arguments.map { Value($0) }).format
}

/// Whether an object satisfies a format string.
func evaluate(_ object: Any?, _ format: String, _ arguments: Any?...) throws -> Bool {
    try NSPredicate(parsing: format, arguments: arguments).evaluate(with: object)
}

/// The value of an expression's format string for an object.
func value(_ format: String, of object: Any? = nil, _ arguments: Any?...) throws -> Value {
    Value(try NSExpression(parsing: format, arguments: arguments).expressionValue(with: object, context: nil))
}

/// What is wrong with a format string.
func formatError(_ format: String, _ arguments: Any?...) -> PredicateFormatError? {
    do {
        _ = try NSPredicate(parsing: format, arguments: arguments)
        return nil
    } catch {
        return error as? PredicateFormatError
    }
}

extension ExpressionTree {
    static func key(_ path: String) -> ExpressionTree {
        .keyPath(path.split(separator: ".").map(String.init))
    }
}

/// A class that takes part in key-value coding, as managed objects do.
final class Person: KeyValueCoding {
    var name: String?
    var age: Int?
    var boss: Person?
    var friends: [Person] = []

    init(_ name: String?, age: Int? = nil, boss: Person? = nil, friends: [Person] = []) {
        self.name = name
        self.age = age
        self.boss = boss
        self.friends = friends
    }

    func value(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "age": age
        case "boss": boss
        case "friends": friends
        default: nil
        }
    }
}
