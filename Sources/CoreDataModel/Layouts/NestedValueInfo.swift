/// Keys and values in the user info of attributes, by which models derived from structs describe nested values.
package enum NestedValueInfo {
    /// When a composite attribute has a value: `always`, or `initially` if only the objects older than the attribute
    /// certainly have one.
    package static let presence = "PippinPresence"
    /// Marks the element that says whether there is a value.
    package static let mark = "PippinMark"
    /// The name of an element in JSON.
    package static let key = "PippinKey"
    /// The list of models that an attribute marks as present.
    package static let markedList = "PippinMarkedList"
    /// The coding of bytes: `JSON`.
    package static let coding = "PippinCoding"
}

extension AttributeLayout {
    /// Whether every object has the nested value of a composite attribute.
    package var isAlwaysPresent: Bool { info(NestedValueInfo.presence) == "always" }
    /// Whether every object older than the attribute has the nested value.
    package var isPresentInitially: Bool { info(NestedValueInfo.presence) == "initially" }
    /// Whether the user info says when there is a value.
    package var tellsPresence: Bool { info(NestedValueInfo.presence) != nil }
    /// The name of the element in JSON.
    package var nestedKey: String { info(NestedValueInfo.key) ?? name }
    /// Whether the element says that there is a value.
    package var isPresenceMark: Bool { info(NestedValueInfo.mark) != nil }
    /// The relationship to many whose list the attribute marks as present; nil for any other attribute.
    package var markedList: String? { info(NestedValueInfo.markedList) }
    /// Whether the bytes are JSON.
    package var isJSON: Bool { info(NestedValueInfo.coding) == "JSON" }

    private func info(_ key: String) -> String? { description.userInfo?[key] as? String }
}
