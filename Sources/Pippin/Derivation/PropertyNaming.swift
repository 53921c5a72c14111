/// Finds out which property each coding key belongs to. A key path names a property, and a store finds its value by the
/// key.
struct PropertyNaming {
    private var left: [(name: String, type: Any.Type, value: Any)]
    private let fields: [ProbedField]
    /// The properties' names, by field; nil where several properties could be meant.
    private(set) var names: [String?]

    init(_ prototype: Any, _ fields: [ProbedField]) {
        self.fields = fields
        left = Mirror(reflecting: prototype).children.compactMap { child in
            child.label.map { ($0, Swift.type(of: child.value), child.value) }
        }
        names = Array(repeating: nil, count: fields.count)
        nameByCases()
        nameByValues()
        nameByKeys()
        nameByTypes()
    }

    private mutating func take(_ name: String, for field: Int) -> Bool {
        guard let index = left.firstIndex(where: { $0.name == name }) else { return false }
        names[field] = left.remove(at: index).name
        return true
    }

    private var unnamed: [Int] { fields.indices.filter { names[$0] == nil } }

    /// In coding that the compiler writes, a key's case is called like its property, whatever the key is.
    private mutating func nameByCases() {
        for field in unnamed {
            guard let name = fields[field].caseName else { continue }
            // A wrapped property is stored under its name with an underscore.
            _ = take(name, for: field) || take("_" + name, for: field)
        }
    }

    /// A type that reads itself has the value of a key in one of its properties. Most made-up values are like no other.
    private mutating func nameByValues() {
        for field in unnamed {
            guard let value = comparable(fields[field].value),
                unnamed.filter({ comparable(fields[$0].value) == value }).count == 1
            else { continue }
            let same = left.filter { $0.type == fields[field].type && comparable($0.value) == value }
            if same.count == 1 { _ = take(same[0].name, for: field) }
        }
    }

    private mutating func nameByKeys() {
        for field in unnamed {
            let (key, type) = (fields[field].key, fields[field].type)
            if left.contains(where: { $0.name == key && $0.type == type }) { _ = take(key, for: field) }
        }
    }

    private mutating func nameByTypes() {
        for field in unnamed {
            let possible = left.filter { $0.type == fields[field].type }
            if possible.count == 1, unnamed.filter({ fields[$0].type == fields[field].type }).count == 1 {
                _ = take(possible[0].name, for: field)
            }
        }
        // A key without a property of its type belongs to what the type computes.
        for field in unnamed where !left.contains(where: { $0.type == fields[field].type }) {
            if !names.contains(fields[field].key) { names[field] = fields[field].key }
        }
    }

    private func comparable(_ value: Any?) -> AnyHashable? {
        guard let value else { return nil }
        if let optional = value as? any OptionalValue { return optional.wrappedValue as? AnyHashable }
        return value as? AnyHashable
    }
}

extension CodingKey {
    /// The name of the key's case; nil for a key that is no case of an enumeration.
    var caseName: String? { enumCaseName(self).map { String(cString: $0) } }
}

/// Of the Swift runtime; declared as in the standard library, which uses it to print enumerations. NULL for a value of
/// any other type.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?
