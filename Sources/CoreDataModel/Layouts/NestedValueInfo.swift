/// What models that were derived from structs say of nested values, in the user info of attributes.
package enum NestedValueInfo {
    /// Says when a composite attribute has a value: `always`, or `initially`, in the objects that were there before it.
    package static let presence = "PippinPresence"
    /// Marks the element that says whether there is a value.
    package static let mark = "PippinMark"
    /// What an element is called in JSON.
    package static let key = "PippinKey"
    /// How bytes are coded: `JSON`.
    package static let coding = "PippinCoding"
}

extension AttributeLayout {
    /// Whether every object has the value that a composite attribute holds.
    package var isAlwaysPresent: Bool { info(NestedValueInfo.presence) == "always" }
    /// Whether every object has the value that was there before there was the attribute.
    package var isPresentInitially: Bool { info(NestedValueInfo.presence) == "initially" }
    /// Whether the user info tells when there is a value.
    package var tellsPresence: Bool { info(NestedValueInfo.presence) != nil }
    /// What the element is called in JSON.
    package var nestedKey: String { info(NestedValueInfo.key) ?? name }
    /// Whether the element says that there is a value.
    package var isPresenceMark: Bool { info(NestedValueInfo.mark) != nil }
    /// Whether the bytes are JSON.
    package var isJSON: Bool { info(NestedValueInfo.coding) == "JSON" }

    private func info(_ key: String) -> String? { description.userInfo?[key] as? String }
}
