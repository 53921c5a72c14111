import CoreData

/// A value in a snapshot.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The values of one model, as they go to a store and come from it.
///
/// The keys of its coding are `persistentIdentifier` and the names of the properties; related models are coded as their
/// identifiers. By its coding a context reads a snapshot of a program's own type.
public protocol DataStoreSnapshot: Decodable, Encodable, Sendable {
    /// The identifier of the model.
    var persistentIdentifier: PersistentIdentifier { get }

    /// Takes the values of a model.
    ///
    /// - Parameters:
    ///   - from: the model's values.
    ///   - relatedBackingDatas: the values of related models, to which the snapshot may add.
    init(from: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    /// The snapshot with other identifiers.
    ///
    /// - Parameters:
    ///   - persistentIdentifier: the identifier of the model.
    ///   - remappedIdentifiers: new identifiers of related models, by the former ones; nil for none.
    /// - Returns: the snapshot.
    func copy(
        persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self
}

/// The keys of a snapshot's coding.
public enum DataStoreSnapshotCodingKey: CodingKey {
    /// The identifier of the model.
    case persistentIdentifier
    /// A property of the model.
    case modeledProperty(String)

    /// The key as text: the property's name.
    public var stringValue: String {
        switch self {
        case .persistentIdentifier: "persistentIdentifier"
        case .modeledProperty(let name): name
        }
    }

    /// The key of a text.
    ///
    /// - Parameter stringValue: the text.
    public init?(stringValue: String) {
        self = stringValue == "persistentIdentifier" ? .persistentIdentifier : .modeledProperty(stringValue)
    }

    /// No number: nil.
    public var intValue: Int? { nil }

    /// Fails: the keys are texts.
    ///
    /// - Parameter intValue: a number.
    public init?(intValue: Int) { nil }
}

/// The snapshot of any model.
public struct DefaultSnapshot: DataStoreSnapshot {
    /// The identifier of the model.
    public let persistentIdentifier: PersistentIdentifier
    /// The values by the names of the properties; those without one are left out.
    let values: [String: SnapshotValue]

    init(_ identifier: PersistentIdentifier, _ values: [String: SnapshotValue]) {
        (persistentIdentifier, self.values) = (identifier, values)
    }

    /// Takes the values of a model.
    ///
    /// - Parameters:
    ///   - backingData: the model's values. Of backing data that a program has made itself, only the identifier is
    ///     taken.
    ///   - relatedBackingDatas: the values of related models, which are left alone.
    public init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
        if let state = backingData.metadata as? ModelState {
            self.init(state.identifier, state.snapshotValues)
        } else {
            self.init(
                backingData.persistentModelID ?? PersistentIdentifier(entityName: "", .temporary(0)), [:])
        }
    }

    /// Decodes a snapshot. The program must have made a container with the model's class.
    ///
    /// - Parameter decoder: the decoder.
    /// - Throws: the errors of decoding, and one for a model whose class is unknown.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        let identifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
        guard let type = ModelType.inContainer(named: identifier.entityName) else {
            throw DecodingError.dataCorruptedError(
                forKey: .persistentIdentifier, in: container,
                debugDescription: "No container has a class “\(identifier.entityName)”. Make one with it first.")
        }
        var values: [String: SnapshotValue] = [:]
        for property in type.properties {
            let key = DataStoreSnapshotCodingKey.modeledProperty(property.name)
            guard container.contains(key), try !container.decodeNil(forKey: key) else { continue }
            values[property.name] = SnapshotValue(try container.decode(try property.snapshotType, forKey: key))
        }
        self.init(identifier, values)
    }

    /// Encodes the snapshot.
    ///
    /// - Parameter encoder: the encoder.
    /// - Throws: the errors of encoding.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            try container.encode(value.content, forKey: .modeledProperty(name))
        }
    }

    /// The snapshot with other identifiers.
    ///
    /// - Parameters:
    ///   - persistentIdentifier: the identifier of the model.
    ///   - remappedIdentifiers: new identifiers of related models, by the former ones; nil for none.
    /// - Returns: the snapshot.
    public func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = [:]
    ) -> DefaultSnapshot {
        let remapped = remappedIdentifiers ?? [:]
        return DefaultSnapshot(persistentIdentifier, values.mapValues { $0.replacing(remapped) })
    }
}

/// The value of a property: of its type, or the identifiers of related models.
struct SnapshotValue: @unchecked Sendable {
    // @unchecked Sendable: values of models' properties are numbers, texts, structs of these and identifiers; a
    // snapshot has copies of its own.
    let content: any Codable

    init(_ content: any Codable) { self.content = content }

    func replacing(_ identifiers: [PersistentIdentifier: PersistentIdentifier]) -> SnapshotValue {
        switch content {
        case let identifier as PersistentIdentifier: SnapshotValue(identifiers[identifier] ?? identifier)
        case let list as [PersistentIdentifier]: SnapshotValue(list.map { identifiers[$0] ?? $0 })
        default: self
        }
    }
}

extension ModelProperty {
    /// The type of the property's value in a snapshot.
    fileprivate var snapshotType: any Codable.Type {
        get throws {
            switch kind {
            case .toOne: return PersistentIdentifier.self
            case .toMany: return [PersistentIdentifier].self
            case .attribute:
                guard let type = (optionalContent(of: valueType) ?? valueType) as? any Codable.Type else {
                    throw DataStoreError.unsupportedFeature
                }
                return type
            }
        }
    }

    /// The value of an attribute in key-value coding; nil for none.
    ///
    /// - Parameters:
    ///   - value: a value of the property's type, without its optionality.
    ///   - layout: the attribute.
    /// - Returns: the value that a managed object takes.
    func object(of value: Any, _ layout: AttributeLayout) -> Any? {
        stored(value)?.objectValue(for: layout)
    }

    /// The stored form of an attribute's value.
    ///
    /// - Parameter value: a value of the property's type, without its optionality.
    /// - Returns: nil for a value of another type.
    func stored(_ value: Any) -> StoredValue? {
        guard case .attribute(let shape) = kind else { return nil }
        func stored<Value>(_ value: Value) -> StoredValue? {
            (ValueCodings.coding(of: Value.self, shape) as? ValueCoding<Value>)?.stored(value)
        }
        return _openExistential(value, do: stored)
    }
}

extension ModelState {
    /// The values for a snapshot, by the names of the properties.
    var snapshotValues: [String: SnapshotValue] {
        var values: [String: SnapshotValue] = [:]
        for property in type.properties { values[property.name] = snapshotValue(property) }
        return values
    }

    private func snapshotValue(_ property: ModelProperty) -> SnapshotValue? {
        switch property.kind {
        case .toMany: return SnapshotValue(relatedModels(property).map(\.persistentModelID))
        case .toOne: return relatedModels(property).first.map { SnapshotValue($0.persistentModelID) }
        case .attribute:
            func value<Value>(_ type: Value.Type) -> Any { self.value(property) as Value }
            let value = _openExistential(property.valueType, do: value)
            return (StoredValue.unwrapped(value) as? any Codable).map { SnapshotValue($0) }
        }
    }

    /// Takes over a snapshot's values of attributes; those that it lacks become nil.
    func take(_ values: [String: SnapshotValue]) {
        for property in type.properties where !property.isRelationship {
            setStored(property, values[property.name].flatMap { property.stored($0.content) } ?? .null)
        }
    }
}
