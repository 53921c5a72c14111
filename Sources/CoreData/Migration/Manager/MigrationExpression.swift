import Foundation

/// Evaluates the value and source expressions of a mapping model.
struct MigrationExpression {
    /// The values of `$source`, `$manager` and the other variables.
    let scope: MigrationScope

    func value(of expression: NSExpression) throws -> Any? { try value(of: expressionTree(of: expression)) }

    func value(of tree: ExpressionTree) throws -> Any? {
        switch tree {
        case .constant(let value): return value.any
        case .variable(let name):
            guard let value = scope[name] else {
                let known = scope.variables.keys.sorted().map { "$" + $0 }.joined(separator: ", ")
                throw Self.error("$\(name) stands for nothing here; there are \(known)")
            }
            return value
        case .path(let origin, let keys): return try value(at: keys, of: value(of: origin))
        case .call(let target, let name, let arguments):
            return try call(name, on: value(of: target), arguments.map { try value(of: $0) })
        case .fetch(let request, let context, let countOnly):
            return try fetch(value(of: request), in: value(of: context), countOnly: countOnly)
        case .conditional(let condition, let first, let second):
            return try value(of: holds(condition) ? first : second)
        case .subquery(let collection, let variable, let predicate):
            return try members(of: collection, variable, where: predicate)
        case .anyKey: throw Self.error("ANYKEY cannot be evaluated: name the keys to compare")
        default:
            // The parts are constants now, so the usual evaluation does the rest.
            let known = try tree.mapParts({ .constant(Value(try value(of: $0))) }, predicates: { $0 })
            return CompiledExpression(known).evaluate(.null, variables: scope.variables.mapValues { Value($0) }).any
        }
    }

    /// The key in `$source.key` and `FUNCTION($source, "valueForKey:", "key")`.
    static func sourceKey(_ tree: ExpressionTree) -> String? {
        switch tree {
        case .path(.variable(NSMigrationSourceObjectKey), let keys) where keys.count == 1: return keys[0]
        case .call(.variable(NSMigrationSourceObjectKey), "valueForKey:", let arguments) where arguments.count == 1:
            if case .constant(.string(let key)) = arguments[0] { return key }
            return nil
        default: return nil
        }
    }

    // MARK: Keys

    private func value(at keys: [String], of origin: Any?) throws -> Any? {
        guard let origin else { return nil }
        guard let key = keys.first else { throw Self.error("the key that is to be read of a value is empty") }
        if let owner = origin as? any MigrationKeyOwner {
            return try value(at: Array(keys.dropFirst()), readFrom: owner.expressionValue(forKey: key))
        }
        let value = Value(origin)
        if let obstacle = value.obstacle(toKeyPath: keys) { throw Self.error(obstacle) }
        guard let object = origin as? NSManagedObject else { return value.value(forKeyPath: keys).any }
        return object.value(forKeyPath: keys.joined(separator: "."))
    }

    private func value(at keys: [String], readFrom value: Any?) throws -> Any? {
        keys.isEmpty ? value : try self.value(at: keys, of: value)
    }

    // MARK: Predicates

    /// Whether a predicate holds. Its sides may use the migration's variables.
    private func holds(_ predicate: PredicateTree) throws -> Bool {
        let known = try predicate.mapSides { .constant(Value(try value(of: $0))) }
        if let obstacle = known.obstacle { throw Self.error(obstacle) }
        return CompiledPredicate(known).evaluate(.null)
    }

    private func members(of collection: ExpressionTree, _ variable: String, where predicate: PredicateTree) throws
        -> Any?
    {
        guard let elements = Value(try value(of: collection)).elements else { return nil }
        let held = try elements.filter { element in
            var scope = scope
            scope.members[variable] = element.any
            return try MigrationExpression(scope: scope).holds(predicate)
        }
        return Value.collection(held).any
    }

    // MARK: Functions

    private func call(_ name: String, on target: Any?, _ arguments: [Any?]) throws -> Any? {
        guard let target else { return nil }
        if name == "valueForKey:" || name == "valueForKeyPath:" {
            guard let path = arguments.first as? String else {
                throw Self.error("the argument of “\(name)” is not a string")
            }
            return try value(at: path.split(separator: ".").map(String.init), of: target)
        }
        if let target = target as? any MigrationFunctionCalling {
            return try target.callFunction(name, arguments: arguments)
        }
        if ExpressionTree.canCall(name) {
            let tree = ExpressionTree.call(
                on: .constant(Value(target)), name: name, arguments: arguments.map { .constant(Value($0)) })
            return CompiledExpression(tree).evaluate(.null).any
        }
        if arguments.isEmpty { return try value(at: [name], of: target) }
        throw Self.error(
            "“\(name)” cannot be called on a value of type \(type(of: target)): register it by NSExpression.registerFunction(_:_:), or adopt MigrationFunctionCalling"
        )
    }

    private func fetch(_ request: Any?, in context: Any?, countOnly: Bool) throws -> Any? {
        guard let context = context as? NSManagedObjectContext else {
            throw Self.error("FETCH needs a context, such as $manager.sourceContext")
        }
        guard let request = request as? NSFetchRequest<NSManagedObject> else {
            throw Self.error(
                "FETCH needs a fetch request, such as FUNCTION($manager, \"\(MigrationFunction.fetchRequest)\", …)")
        }
        return countOnly ? try context.count(for: request) : try context.fetch(request)
    }

    static func error(_ reason: String) -> NSError {
        NSError(
            domain: NSCocoaErrorDomain, code: CoreDataErrorCode.migration,
            userInfo: [
                NSLocalizedDescriptionKey: "A mapping's expression has no value: \(reason).", "reason": reason,
            ])
    }
}

/// A migration's object whose properties value expressions read by key: `$manager.userInfo`, `$entityMapping.name`.
protocol MigrationKeyOwner {
    /// The object's name in errors.
    static var description: String { get }

    /// Its properties, by the keys that they have in Core Data.
    static var keys: [String: (Self) -> Any?] { get }
}

extension MigrationKeyOwner {
    /// The value of a property.
    ///
    /// - Parameter key: the property's name.
    /// - Returns: the value; `nil` for none.
    /// - Throws: for an unknown key, an error that names the known ones.
    func expressionValue(forKey key: String) throws -> Any? {
        guard let read = Self.keys[key] else {
            throw MigrationExpression.error(
                "\(Self.description) has no “\(key)”; it has \(Self.keys.keys.sorted().joined(separator: ", "))")
        }
        return read(self)
    }
}

extension NSMigrationManager: MigrationKeyOwner {
    static let description = "the migration manager"

    static var keys: [String: (NSMigrationManager) -> Any?] {
        [
            "sourceContext": { $0.run?.source }, "destinationContext": { $0.run?.destination },
            "sourceModel": { $0.sourceModel }, "destinationModel": { $0.destinationModel },
            "mappingModel": { $0.run?.mapping }, "currentEntityMapping": { $0.run?.current },
            "migrationProgress": { $0.migrationProgress }, "userInfo": { $0.userInfo },
            "usesStoreSpecificMigrationManager": { $0.usesStoreSpecificMigrationManager },
        ]
    }
}

extension NSEntityMapping: MigrationKeyOwner {
    static let description = "an entity mapping"

    static var keys: [String: (NSEntityMapping) -> Any?] {
        [
            "name": { $0.name }, "mappingType": { $0.mappingType.rawValue },
            "sourceEntityName": { $0.sourceEntityName }, "destinationEntityName": { $0.destinationEntityName },
            "sourceEntityVersionHash": { $0.sourceEntityVersionHash },
            "destinationEntityVersionHash": { $0.destinationEntityVersionHash },
            "attributeMappings": { $0.attributeMappings }, "relationshipMappings": { $0.relationshipMappings },
            "sourceExpression": { $0.sourceExpression },
            "entityMigrationPolicyClassName": { $0.entityMigrationPolicyClassName }, "userInfo": { $0.userInfo },
        ]
    }
}

extension NSPropertyMapping: MigrationKeyOwner {
    static let description = "a property mapping"

    static var keys: [String: (NSPropertyMapping) -> Any?] {
        ["name": { $0.name }, "valueExpression": { $0.valueExpression }, "userInfo": { $0.userInfo }]
    }
}
