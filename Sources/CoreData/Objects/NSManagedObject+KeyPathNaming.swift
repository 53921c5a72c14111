import PredicateFormat

// Used by sort descriptors with key paths, and by `#Predicate`, to find their keys.
extension NSManagedObject: KeyPathNaming {
    package static func keys(of keyPath: AnyKeyPath) -> [String]? {
        guard let root = type(of: keyPath).rootType as? NSManagedObject.Type else { return nil }
        return KeyPathProbe.keyPathName(keyPath, of: root)?.split(separator: ".").map(String.init)
    }
}
