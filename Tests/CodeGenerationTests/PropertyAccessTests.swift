import Testing

@testable import CodeGeneration

@Suite("How accessors get and set a property")
struct PropertyAccessTests {
    @Test(
        "One whose type says nothing of its values, as Xcode's for transformables, takes them as they come",
        arguments: [
            "NSObject?", "NSObject!", "Any", "Any?", "AnyObject?", "NSCoding?", "(any NSCoding)?",
            "Foundation.NSObject",
        ])
    func anyKind(type: String) {
        let access = PropertyAccess(key: "color", type: type)
        #expect(access.getter == "managedAnyValue(\(PropertyKeys.reference(to: "color")))")
        #expect(access.setter == "setManagedAnyValue(newValue, \(PropertyKeys.reference(to: "color")))")
    }

    @Test("Any other type chooses the overload", arguments: ["String?", "NSArray?", "Set<NSObject>", "[String: Any]"])
    func oneKind(type: String) {
        let access = PropertyAccess(key: "color", type: type)
        #expect(access.getter == "managedValue(\(PropertyKeys.reference(to: "color")))")
        #expect(access.setter == "setManagedValue(newValue, \(PropertyKeys.reference(to: "color")))")
    }
}
