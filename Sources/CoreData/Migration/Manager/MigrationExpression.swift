import Foundation

/// Evaluates the value and source expressions of a mapping model.
struct MigrationExpression {
    /// The values of `$source`, `$manager` and their kin.
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
        default:
            // What is computed of the parts is the business of expressions everywhere.
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
        switch origin {
        case let object as NSManagedObject:
            try checkKey(keys[0], of: object)
            return object.value(forKeyPath: keys.joined(separator: "."))
        case let manager as NSMigrationManager:
            guard keys.count > 0, let value = manager.expressionValue(forKey: keys[0]) else {
                throw Self.error("the migration manager has no “\(keys.joined(separator: "."))”")
            }
            return keys.count == 1 ? value : try self.value(at: Array(keys.dropFirst()), of: value)
        default: return Value(origin).value(forKeyPath: keys).any
        }
    }

    private func checkKey(_ key: String, of object: NSManagedObject) throws {
        guard object.entity.propertiesByName[key] == nil, !["objectID", "self", "entity"].contains(key) else { return }
        throw Self.error(
            "entity “\(object.entity.name ?? "")” has no property “\(key)”; it has "
                + object.entity.propertiesByName.keys.sorted().joined(separator: ", "))
    }

    // MARK: Functions

    private func call(_ name: String, on target: Any?, _ arguments: [Any?]) throws -> Any? {
        guard let target else { return nil }
        if name == "valueForKey:" || name == "valueForKeyPath:", let path = arguments.first as? String {
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
