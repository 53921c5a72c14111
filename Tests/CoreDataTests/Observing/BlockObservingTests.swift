import CoreData
import Testing

@MainActor @Suite("Observing managed objects: blocks for key paths")
struct BlockObservingTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }
    let author: ObservedAuthor

    init() throws {
        container = try Library.observed()
        author = ObservedAuthor(context: container.viewContext)
        author.name = "Emma"
    }

    @Test("A block hears of a change by an accessor, with both values")
    func attribute() {
        var heard: [String] = []
        let observation = author.observe(\.name, options: [.old, .new]) { author, change in
            heard.append("\(change.kind) \(change.oldValue ?? "-") \(change.newValue ?? "-") \(author.name)")
        }
        author.name = "Jane"
        author.setValue("Anne", forKey: "name")
        author.age = 7
        #expect(heard == ["setting Emma Jane Jane", "setting Jane Anne Anne"])
        observation.invalidate()
    }

    @Test("Without options the block hears that there was a change, and no values")
    func noOptions() {
        var heard: [Bool] = []
        let observation = author.observe(\.age) { _, change in
            heard.append(change.newValue == nil && change.oldValue == nil && !change.isPrior)
        }
        author.age = 3
        #expect(heard == [true])
        observation.invalidate()
    }

    @Test("With the option “initial” it is called at once, with the value of the moment")
    func initial() {
        var heard: [String] = []
        let observation = author.observe(\.name, options: [.initial, .new, .old]) { _, change in
            heard.append("\(change.oldValue ?? "-") \(change.newValue ?? "-")")
        }
        #expect(heard == ["- Emma"])
        observation.invalidate()
    }

    @Test("With the option “prior” it is called before the change, too, when the object has its former value")
    func prior() {
        var heard: [String] = []
        let observation = author.observe(\.name, options: [.prior, .new, .old]) { author, change in
            heard.append(
                "\(change.isPrior) \(change.oldValue ?? "-") \(change.newValue ?? "-") \(author.name)")
        }
        author.name = "Jane"
        #expect(heard == ["true Emma - Emma", "false Emma Jane Jane"])
        observation.invalidate()
    }

    @Test("An optional property that becomes nil has a new value, which is nil")
    func optional() {
        author.nickname = "J."
        var heard: [String??] = []
        let observation = author.observe(\.nickname, options: [.old, .new]) { _, change in
            heard += [change.oldValue, change.newValue]
        }
        author.nickname = nil
        #expect(heard == [.some("J."), .some(nil)])
        observation.invalidate()
    }

    @Test("A property without nil that has no value yet has no old one")
    func missing() {
        let nobody = ObservedAuthor(context: context)
        var heard: [String] = []
        let observation = nobody.observe(\.name, options: [.old, .new]) { _, change in
            heard.append("\(change.oldValue ?? "-") \(change.newValue ?? "-")")
        }
        nobody.name = "Jane"
        #expect(heard == ["- Jane"])
        observation.invalidate()
    }

    @Test("A number that has no value is zero, as its accessor says")
    func numbers() {
        var heard: [Int16?] = []
        let observation = author.observe(\.age, options: [.old, .new]) { _, change in
            heard += [change.oldValue, change.newValue]
        }
        author.age = 4
        #expect(heard == [0, 4])
        observation.invalidate()
    }

    @Test("After invalidate() nothing is heard")
    func invalidated() {
        var count = 0
        let observation = author.observe(\.name) { _, _ in count += 1 }
        author.name = "A"
        observation.invalidate()
        observation.invalidate()
        author.name = "B"
        #expect(count == 1)
    }

    @Test("An observation that is let go has ended")
    func letGo() {
        var count = 0
        var observation: NSKeyValueObservation? = author.observe(\.name) { _, _ in count += 1 }
        author.name = "A"
        _ = observation
        observation = nil
        author.name = "B"
        #expect(count == 1)
    }

    @Test("An observation keeps the object alive no longer than others do")
    func lifetime() throws {
        try context.save()
        var observed: ObservedAuthor? = try #require(
            container.newBackgroundContext().existingObject(with: author.objectID) as? ObservedAuthor)
        weak let remaining = observed
        let observation = observed?.observe(\.name, options: [.old, .new]) { _, _ in }
        #expect(remaining != nil)
        observed = nil
        #expect(remaining == nil)
        observation?.invalidate()
    }

    @Test("A key path through a to-one relationship is heard of at either step")
    func relatedPath() {
        let book = ObservedBook(context: context)
        let other = ObservedAuthor(context: context)
        other.name = "Anne"
        var heard: [String] = []
        let observation = book.observe(\.author?.name, options: [.old, .new]) { _, change in
            heard.append("\((change.oldValue ?? nil) ?? "-") \((change.newValue ?? nil) ?? "-")")
        }
        book.author = author
        author.name = "Jane"
        book.author = other
        author.name = "nobody listens"
        other.name = "Charlotte"
        book.author = nil
        #expect(heard == ["- Emma", "Emma Jane", "Jane Anne", "Anne Charlotte", "Charlotte -"])
        observation.invalidate()
    }

    @Test("A computed property changes with the modeled ones that it reads")
    func computed() {
        var heard: [String] = []
        let observation = author.observe(\.fullName, options: [.old, .new]) { _, change in
            heard.append("\(change.oldValue ?? "?") \(change.newValue ?? "?")")
        }
        author.nickname = "J."
        author.name = "Jane"
        author.age = 2
        #expect(heard == ["Emma “” Emma “J.”", "Emma “J.” Jane “J.”"])
        observation.invalidate()
    }

    @Test("willChangeValue(for:) and didChangeValue(for:) announce what custom accessors change")
    func announced() {
        var heard: [String] = []
        let observation = author.observe(\.name, options: [.old, .new]) { _, change in
            heard.append("\(change.oldValue ?? "?") \(change.newValue ?? "?")")
        }
        author.willChangeValue(for: \.name)
        author.setPrimitiveValue("Jane", forKey: "name")
        #expect(heard.isEmpty)
        author.didChangeValue(for: \.name)
        #expect(heard == ["Emma Jane"])
        observation.invalidate()
    }

    @Test("An observation can end on another thread while the object changes")
    func threads() async {
        var count = 0
        for _ in 0..<200 {
            let observation = author.observe(\.name, options: [.old, .new]) { _, _ in count += 1 }
            let ended = Task.detached { observation.invalidate() }
            author.name = "A"
            author.name = "B"
            await ended.value
            let before = count
            author.name = "C"
            #expect(count == before)
        }
    }
}
