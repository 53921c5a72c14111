import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLiteEngine

/// What takes another object along.
final class Envelope: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    var content: Any?
    init(_ content: Any?) { self.content = content }
    init?(coder: NSCoder) { content = coder.decodeObject(forKey: "content") }
    func encode(with coder: NSCoder) {
        coder.encode(content, forKey: "content")
        coder.encode(1, forKey: "weight")
        coder.encode(true, forKey: "isSealed")
    }
}

final class Uncodable: NSObject {}

enum Namespace {
    final class Nested: NSObject, NSCoding {
        override init() { super.init() }
        init?(coder: NSCoder) {}
        func encode(with coder: NSCoder) {}
    }
}

final class Generic<Value>: NSObject, NSCoding {
    override init() { super.init() }
    init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
}

@Suite("Values of which Foundation's archiver would stop the program are refused")
struct ArchiveCheckTests {
    private struct Plain {}

    private func isRefused(_ value: Any) -> Bool {
        do {
            _ = try SecureUnarchiving.archive(of: value)
            return false
        } catch { return error is SecureUnarchiving.Failure }
    }

    @Test("Errors are refused, wherever they are")
    func errors() {
        let error = NSError(domain: "d", code: 1)
        #expect(isRefused(error))
        #expect(isRefused(CocoaError(.fileNoSuchFile)))
        #expect(isRefused([error]))
        #expect(isRefused(["a": [["b": error]]]))
        #expect(isRefused(Envelope(error)))
        #expect(isRefused(Envelope([Envelope(error)])))
        #expect(isRefused(NSAttributedString(string: "x", attributes: [NSAttributedString.Key("k"): error])))
        #expect(isRefused(NSNotification(name: Notification.Name("x"), object: error)))
    }

    @Test("Objects that do not adopt NSCoding are refused, and values of Swift")
    func uncodable() {
        for value in [Uncodable(), Plain(), (1, 2), NSObject(), { 1 }] as [Any] {
            #expect(isRefused(value))
            #expect(isRefused([value]))
            #expect(isRefused(Envelope(value)))
        }
    }

    @Test("Predicates, sort descriptors and decimal numbers are refused, which Foundation cannot archive on Linux")
    func foundation() {
        #expect(isRefused(NSPredicate(value: true)))
        #expect(isRefused(NSCompoundPredicate(andPredicateWithSubpredicates: [])))
        #expect(isRefused(NSDecimalNumber(string: "1.5")))
        #expect(isRefused(Envelope(NSDecimalNumber(string: "1.5"))))
    }

    @Test("Classes without a name of their own are refused: nested and generic ones")
    func names() {
        #expect(isRefused(Namespace.Nested()))
        #expect(isRefused([Generic<Int>()]))
    }

    @Test("Collections that nest very deep are refused")
    func depth() {
        var deep: NSObject = NSArray()
        for _ in 0..<300 { deep = NSArray(object: deep) }
        #expect(isRefused(deep))
    }

    @Test("An object that leads back to itself is archived, and so is all that can be")
    func fine() throws {
        let letter = Envelope(nil)
        letter.content = letter
        #expect(!isRefused(letter))
        let values: [Any] = [
            "a", 1, 2.5, true, Data([1]), Date(), UUID(), NSNull(), [1, "a"], ["a": [1]], Set([1]),
            NSIndexPath(index: 1), NSIndexSet(index: 2), NSTimeZone.default as NSTimeZone, Locale(identifier: "de"),
            NSAttributedString(string: "x"), NSMeasurement(doubleValue: 1, unit: UnitLength.meters),
            Envelope("x"), [Envelope(["a": Envelope(1)])],
        ]
        for value in values { #expect(!isRefused(value), "\(value)") }
        let url = try #require(URL(string: "https://a.b"))
        #expect(!isRefused(url))
    }

    @Test("A save with such a value throws, and names the property")
    func saving() throws {
        let store = PhotoStore()
        let context = try store.context()
        context.performAndWait {
            let picture = NSEntityDescription.insertNewObject(forEntityName: "Picture", into: context)
            picture.setValue(Data([1]), forKey: "photo")
            picture.setValue(["why": NSError(domain: "d", code: 1)], forKey: "drawing")
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.localizedDescription.contains("Picture.drawing") == true)
        }
    }
}
