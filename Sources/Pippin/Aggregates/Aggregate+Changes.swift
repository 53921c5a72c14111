import CoreData

// The same results where a context has changes that the store has not seen: computed from the objects.
extension Aggregate {
    /// The values of the property, without those that are missing, least first.
    private func values(_ predicate: NSPredicate?, in context: NSManagedObjectContext) throws -> [Any] {
        try objects(predicate, sortedBy: path, in: context).compactMap { $0.value(forKeyPath: path) }
    }

    private func objects(
        _ predicate: NSPredicate?, sortedBy key: String, in context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        var selection = RecordSelection(predicate: predicate)
        selection.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try plan.objects(selection, in: context)
    }

    /// What the function makes of the property's values; `nil` where there are none.
    func changedValue(
        _ function: Function, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> Any? { Self.result(function, try values(predicate, in: context)) }

    private static func result(_ function: Function, _ values: [Any]) -> Any? {
        guard !values.isEmpty else { return nil }
        switch function {
        case .count: return values.count
        case .minimum: return values.first
        case .maximum: return values.last
        case .sum, .average:
            let expression = NSExpression(
                forFunction: function.rawValue, arguments: [NSExpression(forConstantValue: values)])
            return expression.expressionValue(with: nil, context: nil)
        }
    }

    /// The different values, least first; `nil` first where a model has none.
    func changedDistinct(_ predicate: NSPredicate?, in context: NSManagedObjectContext) throws -> [Any?] {
        var distinct: [NSObject?] = []
        for object in try objects(predicate, sortedBy: path, in: context) {
            let value = object.value(forKeyPath: path).map(Self.object)
            if distinct.isEmpty || distinct.last != value { distinct.append(value) }
        }
        return distinct
    }

    /// What the function makes of the property's values, for each value of another one.
    func changedValues(
        _ function: Function, by group: Aggregate, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> [(group: Any?, value: Any?)] {
        var groups: [(group: Any?, values: [Any])] = []
        var known: NSObject?
        for object in try objects(predicate, sortedBy: group.path, in: context) {
            let key = object.value(forKeyPath: group.path)
            if groups.isEmpty || key.map(Self.object) != known {
                groups.append((key, []))
                known = key.map(Self.object)
            }
            if let value = object.value(forKeyPath: path) { groups[groups.count - 1].values.append(value) }
        }
        return groups.map { ($0.group, Self.result(function, $0.values)) }
    }

    private static func object(_ value: Any) -> NSObject {
        switch value {
        case let object as NSObject: object
        case let string as String: string as NSString
        case let date as Date: date as NSDate
        case let uuid as UUID: uuid as NSUUID
        case let url as URL: url as NSURL
        case let data as Data: data as NSData
        case let hashable as AnyHashable: "\(hashable)" as NSString
        default: "\(value)" as NSString
        }
    }
}
