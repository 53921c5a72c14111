import CoreData
import PredicateFormat

/// The keys by which a store knows what key paths read.
enum PropertyNames {
    /// - Parameter keyPath: a key path in a predicate: one step from a model, or within a value.
    /// - Returns: nil for one that reads a computed property.
    static func keys(of keyPath: AnyKeyPath) -> [String]? {
        let root = type(of: keyPath).rootType
        if let model = root as? any PersistentModel.Type { return keys(of: keyPath, from: ModelType.of(model)) }
        if let enumeration = root as? any RawRepresentable.Type, readsRawValue(keyPath, enumeration) { return [] }
        guard let names = PredicateFormat.keys(of: keyPath) else { return nil }
        return names + rawElement(named: names.last, type(of: keyPath).valueType)
    }

    /// The keys of a key path from a model class, of any number of steps.
    static func keys(of keyPath: AnyKeyPath, from type: ModelType) -> [String]? {
        if let property = type.property(keyPath) { return [property.name] + rawElement(of: property) }
        guard let (names, property) = KeyPathRecorder.path(keyPath, of: type) else { return nil }
        guard let property, names.last == property.name else { return names }
        return names + rawElement(of: property)
    }

    /// The element that an enumeration with raw values is kept in.
    private static func rawElement(of property: ModelProperty) -> [String] {
        guard case .attribute(.composite(let shape)) = property.kind, shape.kind == .rawValue else { return [] }
        return shape.elements.map(\.name)
    }

    private static func rawElement(named name: String?, _ type: Any.Type) -> [String] {
        guard let name, case .composite(let shape) = AttributeShape(of: optionalContent(of: type) ?? type, name: name),
            shape.kind == .rawValue
        else { return [] }
        return [name]
    }

    /// Whether a key path from an enumeration reads what `rawValue` does, for each of its cases.
    private static func readsRawValue<Enumeration: RawRepresentable>(
        _ keyPath: AnyKeyPath, _ type: Enumeration.Type
    ) -> Bool {
        guard let keyPath = keyPath as? KeyPath<Enumeration, Enumeration.RawValue>,
            let cases = TypeFields.cases(of: Enumeration.self)
        else { return false }
        return cases.allSatisfy { AnyHashable.isEqual($0.value[keyPath: keyPath], $0.value.rawValue) }
    }
}

extension AnyHashable {
    fileprivate static func isEqual(_ left: Any, _ right: Any) -> Bool {
        guard let left = left as? AnyHashable, let right = right as? AnyHashable else { return false }
        return left == right
    }
}
