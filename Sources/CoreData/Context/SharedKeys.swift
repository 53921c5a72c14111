import Foundation

/// Makes Foundation dictionaries that share the same few keys, each of which becomes an object only once.
struct SharedKeys {
    private var keys: [String: NSString] = [:]

    /// - Parameter values: the values by name.
    /// - Returns: the values as a Foundation dictionary.
    mutating func dictionary(_ values: [String: Any]) -> NSDictionary {
        var (names, objects) = ([NSObject](), [Any]())
        names.reserveCapacity(values.count)
        objects.reserveCapacity(values.count)
        for (name, value) in values {
            names.append(key(name))
            objects.append(value)
        }
        return NSDictionary(objects: objects, forKeys: names)
    }

    private mutating func key(_ name: String) -> NSString {
        if let known = keys[name] { return known }
        let key = name as NSString
        keys[name] = key
        return key
    }
}
