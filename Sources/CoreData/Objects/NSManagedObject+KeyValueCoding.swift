import Foundation
import PredicateFormat

extension NSManagedObject {
    final func modeledValue(forKey key: String) -> Any? {
        guard let place = layout.place(forKey: key) else {
            return ownValue(forKey: key) { value(forUndefinedKey: key) }
        }
        switch place {
        case .slot(let slot):
            let value = storedValue(at: slot)
            switch layout.slots[slot].kind {
            case .attribute(let attribute):
                if attribute.allowsExternalStorage, let missing = value.missingExternalData {
                    reportMissing(missing, at: slot)
                }
                return value.objectValue(for: attribute)
            case .toOne(let relationship):
                if case .object(let object) = value {
                    (object as? UnavailableValue)?.report()
                    return (object as? UnacceptableValue)?.value
                }
                return toOne(relationship)
            }
        case .toMany(let index):
            return toManyValue(layout.relationships[index])
        case .fetched(let index):
            return fetchedValue(index)
        }
    }

    /// The properties that every managed object has by key.
    private func ownValue(forKey key: String, else other: () -> Any?) -> Any? {
        switch key {
        case "objectID": identifier
        case "self": self
        case "entity": entity
        case "managedObjectContext": managedObjectContext
        case "isInserted", "inserted": NSNumber(value: isInserted)
        case "isUpdated", "updated": NSNumber(value: isUpdated)
        case "isDeleted", "deleted": NSNumber(value: isDeleted)
        case "isFault", "fault": NSNumber(value: isFault)
        case "hasChanges": NSNumber(value: hasChanges)
        case "hasPersistentChangedValues": NSNumber(value: hasPersistentChangedValues)
        case "description": description
        default: other()
        }
    }

    final func setModeledValue(_ value: Any?, forKey key: String) {
        guard let place = layout.place(forKey: key) else { return setValue(value, forUndefinedKey: key) }
        switch place {
        case .slot(let slot):
            switch layout.slots[slot].kind {
            case .attribute(let attribute):
                setStoredValue(StoredValue(value, for: attribute, replacing: storedValue(at: slot)), at: slot)
            case .toOne(let relationship): setToOne(relationship, toAny: value)
            }
        case .toMany(let index):
            let relationship = layout.relationships[index]
            guard let objects = Self.objects(in: StoredValue.unwrapped(value)) else {
                programmerError(
                    "“\(layout.name).\(key)” needs a set of \(relationship.destination.name) objects, not "
                        + "\(value.map { "\(type(of: $0))" } ?? "nil")")
            }
            setToMany(relationship, to: objects)
        case .fetched:
            programmerError("“\(layout.name).\(key)” is a fetched property and cannot be set")
        }
    }

    /// The managed objects in a set, an ordered set or an array; `nil` if the value is none of these.
    static func objects(in value: Any?) -> [NSManagedObject]? {
        switch value {
        case nil, is NSNull: return []
        case let list as NSOrderedSet: return list.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: return set.allObjects.compactMap { $0 as? NSManagedObject }
        case let set as Set<NSManagedObject>: return Array(set)
        case let list as [NSManagedObject]: return list
        case let list as NSArray: return list.compactMap { $0 as? NSManagedObject }
        case let set as Set<AnyHashable>: return set.compactMap { $0.base as? NSManagedObject }
        default: return nil
        }
    }

    final func unloadedValue(forKey key: String) -> Any? {
        guard let place = layout.place(forKey: key) else { unknownKey(key) }
        if state.contains(.fault), values.isEmpty { return nil }
        switch place {
        case .slot(let slot):
            switch layout.slots[slot].kind {
            case .attribute(let attribute): return values[slot].objectValue(for: attribute)
            case .toOne(let relationship): return toOne(relationship)
            }
        case .toMany(let index): return toManyValue(layout.relationships[index])
        case .fetched(let index): return fetchedValue(index)
        }
    }

    final func setUntrackedValue(_ value: Any?, forKey key: String) {
        guard let place = layout.place(forKey: key) else { unknownKey(key) }
        if state.contains(.fault) { fireFault() }
        switch place {
        case .slot(let slot):
            switch layout.slots[slot].kind {
            case .attribute(let attribute):
                values[slot] = StoredValue(value, for: attribute, replacing: values[slot])
                if state.contains(.listed) { storedContext?.changed.indexAgain(self) }
            case .toOne(let relationship):
                withoutNotifying(relationship.name) { setToOne(relationship, toAny: value) }
            }
        case .toMany, .fetched: withoutNotifying(observedKey(key)) { setModeledValue(value, forKey: key) }
        }
    }

    final func value(atEndOf keyPath: String) -> Any? {
        KeyValuePath.value(of: self, keyPath.split(separator: ".").map(String.init)[...])
    }

    final func setValue(_ value: Any?, atEndOf keyPath: String) {
        KeyValuePath.set(value, of: self, keyPath.split(separator: ".").map(String.init)[...])
    }

    /// The set of a to-many relationship at the end of a path through to-one relationships, to be changed in place.
    ///
    /// - Parameter keyPath: the names of the relationships; a path that leads to no object stops the program.
    /// - Returns: a proxy; changes of it are changes of the relationship.
    public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
        let (owner, key) = owner(atEndOf: keyPath)
        return owner.mutableSetValue(forKey: key)
    }

    /// The ordered set of a to-many relationship at the end of a path through to-one relationships, to be changed in
    /// place.
    ///
    /// - Parameter keyPath: the names of the relationships; a path that leads to no object stops the program.
    /// - Returns: a proxy; changes of it, and of its order, are changes of the relationship.
    public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        let (owner, key) = owner(atEndOf: keyPath)
        return owner.mutableOrderedSetValue(forKey: key)
    }

    /// The object that the last key of a path applies to, and that key.
    private func owner(atEndOf keyPath: String) -> (NSManagedObject, String) {
        guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
        guard let owner = value(forKeyPath: String(keyPath[..<dot])) as? NSManagedObject else {
            programmerError("“\(keyPath)” leads to no object from a “\(layout.name)”, so there is no set to change")
        }
        return (owner, String(keyPath[keyPath.index(after: dot)...]))
    }

    final func values(byKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
    }
}

// Used by sort descriptors with key paths, and by `#Predicate`, to find their keys.
extension NSManagedObject: KeyPathNaming {
    package static func keys(of keyPath: AnyKeyPath) -> [String]? {
        guard let root = type(of: keyPath).rootType as? NSManagedObject.Type else { return nil }
        return KeyPathProbe.keyPathName(keyPath, of: root)?.split(separator: ".").map(String.init)
    }
}

// In the protocol, not the class: subclasses have subscripts of their own, which would otherwise have to be overrides.
extension NSFetchRequestResult where Self: NSManagedObject {
    /// The value of a property by its name, as in `value(forKey:)` and `setValue(_:forKey:)`.
    ///
    /// ```swift
    /// book["title"] = "Emma"
    /// ```
    ///
    /// - Parameter key: the name of a property; any other stops the program.
    public subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }
}
