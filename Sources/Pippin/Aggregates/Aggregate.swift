import CoreData

/// A value that the store computes from models without handing them out.
struct Aggregate: Sendable {
    /// A function of the predicate language.
    enum Function: String {
        case count = "count:"
        case sum = "sum:"
        case minimum = "min:"
        case maximum = "max:"
        case average = "average:"

        /// The changed objects that matter, and in what order.
        var wanted: Aggregate.Wanted {
            switch self {
            case .minimum: .least
            case .maximum: .greatest
            case .count, .sum, .average: .all
            }
        }
    }

    let plan: EntityPlan
    let path: String
    let kind: AttributeKind
    /// The entities of other models on the path, each with the key that is read from it.
    let related: [(entity: String, key: String)]
    /// The names of the computed columns. No property has one of them: groups are by a property's name.
    private let valueName, countName: String

    /// - Throws: ``PersistenceError/Code/unknownProperty`` for a property that is not a plain attribute.
    init(_ property: PropertyName, _ plan: EntityPlan, _ registry: ModelRegistry) throws {
        self.plan = plan
        (path, kind) = try registry.singleValue(
            property, of: plan,
            "Stores compute with single values: numbers, texts, dates, UUIDs, URLs, data, enumerations with raw values, and "
                + "references; of a model with its properties, such as its identifier.")
        related = try registry.relatedKeys(of: path, in: plan)
        let names = Set(plan.fields.map(\.name))
        func unused(_ name: String) -> String { names.contains(name) ? unused(name + "_") : name }
        (valueName, countName) = (unused("value"), unused("count"))
    }

    /// The kind of a function's result. A sum of small whole numbers is no small number.
    private func kind(of function: Function) -> AttributeKind {
        switch (function, kind) {
        case (.average, _): .double
        case (.sum, .integer16), (.sum, .integer32): .integer64
        default: kind
        }
    }

    /// - SQL: `SELECT ifnull(sum(<property>), 0), count(<property>) FROM Z<ENTITY> WHERE <filter>`
    func value<Value: Decodable>(
        _ function: Function, as type: Value.Type, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> Value? {
        let kind = kind(of: function)
        guard let unsaved = try unsavedPart(predicate, taking: function.wanted, in: context) else {
            return try decoded(result(function, of: objects(predicate, in: context)), kind, type)
        }
        if function == .average, !unsaved.objects.isEmpty {
            // A sum that overflows has an average all the same.
            if let average = try? average(unsaved, in: context) { return try decoded(average, kind, type) }
            return try decoded(result(function, of: objects(predicate, in: context)), kind, type)
        }
        let request = request(unsaved.others)
        request.propertiesToFetch = columns(function, kind.type)
        let row = try context.fetch(request).first as? [String: Any]
        let stored = row.flatMap { isOfAny($0) ? $0[valueName] : nil }.flatMap { $0 is NSNull ? nil : $0 }
        if unsaved.objects.isEmpty { return try decoded(stored, kind, type) }
        return try decoded(result(function, (stored.map { [$0] } ?? []) + values(of: unsaved.objects)), kind, type)
    }

    /// The average of stored and changed values: two averages cannot be combined, sums and numbers of values can.
    private func average(_ unsaved: UnsavedPart, in context: NSManagedObjectContext) throws -> Double? {
        let request = request(unsaved.others)
        request.propertiesToFetch = columns(.sum, kind(of: .sum).type)
        let row = try context.fetch(request).first as? [String: Any]
        let stored = row.flatMap { isOfAny($0) ? $0[valueName] : nil }
        let changed = values(of: unsaved.objects)
        let count = changed.count + ((row?[countName] as? NSNumber)?.intValue ?? 0)
        let sum = try result(.sum, (stored.map { [$0] } ?? []) + changed) as? NSNumber
        return sum.map { $0.nearestDouble / Double(count) }
    }

    /// - SQL: `SELECT DISTINCT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <property>`
    func distinct<Value: Decodable>(
        _ type: Value.Type, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> [Value] {
        guard let unsaved = try unsavedPart(predicate, taking: .inOrder, in: context) else {
            return try distinct(objects(predicate, in: context).map { $0.value(forKeyPath: path) }).map {
                try value($0, type)
            }
        }
        let request = request(unsaved.others)
        request.propertiesToFetch = [path]
        request.returnsDistinctResults = true
        request.sortDescriptors = [NSSortDescriptor(key: path, ascending: true)]
        let stored = try context.fetch(request).map { ($0 as? [String: Any])?[path] }
        let changed = unsaved.objects.map { $0.value(forKeyPath: path) }
        return try (changed.isEmpty ? stored : distinct(stored, changed)).map { try value($0, type) }
    }

    /// - SQL: `SELECT <property>, count(Z_PK) FROM Z<ENTITY> WHERE <filter> GROUP BY <property>`
    func counts<Value: Decodable & Hashable>(
        _ type: Value.Type, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> [Value: Int] {
        let unsaved = try unsavedPart(predicate, in: context)
        // Values that the store distinguishes may be equal in Swift, such as an “é” of one scalar and one of two.
        var counts: [Value: Int] = [:]
        for object in try unsaved?.objects ?? objects(predicate, in: context) {
            counts[try value(object.value(forKeyPath: path), type), default: 0] += 1
        }
        guard let unsaved else { return counts }
        let request = request(unsaved.others)
        request.propertiesToFetch = [path, Self.column(countName, .count, plan.uidKey, .integer64AttributeType)]
        request.propertiesToGroupBy = [path]
        for case let row as [String: Any] in try context.fetch(request) {
            counts[try value(row[path], type), default: 0] += (row[countName] as? NSNumber)?.intValue ?? 0
        }
        return counts
    }

    /// The sums of the property for each value of another one.
    func sums<Value: Decodable, Group: Decodable & Hashable>(
        _ type: Value.Type, by group: Aggregate, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> [Group: Value] {
        let unsaved = try unsavedPart(predicate, by: group, in: context)
        var sums: [Group: [Any]] = [:]
        for object in try unsaved?.objects ?? objects(predicate, in: context) {
            guard let value = object.value(forKeyPath: path) else { continue }
            sums[try group.value(object.value(forKeyPath: group.path), Group.self), default: []].append(value)
        }
        if let unsaved {
            let request = request(unsaved.others)
            request.propertiesToFetch = [group.path] + columns(.sum, kind(of: .sum).type)
            request.propertiesToGroupBy = [group.path]
            for case let row as [String: Any] in try context.fetch(request) where isOfAny(row) {
                guard let sum = row[valueName], !(sum is NSNull) else { continue }
                sums[try group.value(row[group.path], Group.self), default: []].append(sum)
            }
        }
        return try sums.compactMapValues { sums in
            try decoded(sums.count == 1 ? sums[0] : result(.sum, sums), kind(of: .sum), type)
        }
    }

    private func request(_ predicate: NSPredicate?) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.resultType = .dictionaryResultType
        request.predicate = predicate
        return request
    }

    /// The columns to compute. A sum, which is 0 for no values, comes with the number of values.
    private func columns(_ function: Function, _ type: NSAttributeType) -> [NSExpressionDescription] {
        let value = Self.column(valueName, function, path, type)
        return function == .sum ? [value, Self.column(countName, .count, path, .integer64AttributeType)] : [value]
    }

    /// Whether the result was computed from any values; `true` if these were not counted.
    private func isOfAny(_ row: [String: Any]) -> Bool { (row[countName] as? NSNumber)?.intValue != 0 }

    private static func column(
        _ name: String, _ function: Function, _ path: String, _ type: NSAttributeType
    ) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(
            forFunction: function.rawValue, arguments: [NSExpression(forKeyPath: path)])
        column.expressionResultType = type
        return column
    }

    /// A value of the property as the struct has it; `nil` for none.
    private func value<Value: Decodable>(_ value: Any?, _ type: Value.Type) throws -> Value {
        let stored = StoredValue(value, kind) ?? .null
        if let leaf = AttributeDecoder.leaf(type, stored) { return leaf }
        return try decoded(type, stored)
    }

    /// A value decoded by its own type. An error, such as for a case that an enumeration does not have, names the
    /// property.
    private func decoded<Value: Decodable>(_ type: Value.Type, _ stored: StoredValue) throws -> Value {
        do { return try Value(from: ValueDecoder(value: stored, entity: plan.name, key: path)) } catch let error
            as DecodingError
        {
            throw PersistenceError.unreadable(
                entity: plan.name, key: path, reason: error.decodingReason, underlying: error)
        }
    }

    private func decoded<Value: Decodable>(_ value: Any?, _ kind: AttributeKind, _ type: Value.Type) throws -> Value? {
        guard let stored = StoredValue(value, kind), !stored.isNull else { return nil }
        if let leaf = AttributeDecoder.leaf(type, stored) { return leaf }
        return try decoded(type, stored)
    }
}

extension ModelRegistry {
    /// The path of a single value, and its kind. That of a reference leads to the identifier.
    ///
    /// - Throws: ``PersistenceError/Code/unknownProperty`` for a property that is no plain attribute, with the reason.
    func singleValue(
        _ property: PropertyName, of plan: EntityPlan, _ reason: String
    ) throws -> (path: String, kind: AttributeKind) {
        let found = try resolve(property, of: plan)
        let path = found.model.map { (found.names + [$0.uidKey]).joined(separator: ".") } ?? found.path
        let isModel = found.field?.related.map { !$0.isReference } ?? false
        guard !isModel, let kind = try attributeKind(of: path, in: plan) else {
            throw PersistenceError.noSingleValue(
                property.spelling, entity: plan.name, known: plan.propertyNames, reason)
        }
        return (path, kind)
    }

    /// The kind of the attribute at the end of a path; nil if that is not a plain attribute.
    func attributeKind(of path: String, in plan: EntityPlan) throws -> AttributeKind? {
        var fields = plan.fields
        var kind: AttributeKind?
        for name in path.split(separator: ".") {
            guard let field = fields.first(where: { $0.name == name }) else { return nil }
            switch field.kind {
            case .attribute(let attribute): (kind, fields) = (attribute, [])
            case .composite(let record): (kind, fields) = (nil, record.fields)
            case .toOne(let model): (kind, fields) = (nil, try self.plan(model).fields)
            case .json, .toMany: return nil
            }
        }
        return kind
    }

    /// The entities of the models that a path of to-one relationships leads to, each with the key that follows.
    func relatedKeys(of path: String, in plan: EntityPlan) throws -> [(entity: String, key: String)] {
        let names = path.split(separator: ".").map(String.init)
        var fields = plan.fields
        var keys: [(entity: String, key: String)] = []
        for (name, next) in zip(names, names.dropFirst()) {
            switch fields.first(where: { $0.name == name })?.kind {
            case .composite(let record)?: fields = record.fields
            case .toOne(let model)?:
                let related = try self.plan(model)
                keys.append((related.name, next))
                fields = related.fields
            case .attribute?, .json?, .toMany?, nil: return keys
            }
        }
        return keys
    }
}
