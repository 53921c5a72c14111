import CoreData
import Testing

@MainActor @Suite("Observing managed objects: observers by name")
struct ObserverTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }
    let author: ObservedAuthor
    let spy = Spy()

    init() throws {
        container = try Library.observed()
        author = ObservedAuthor(context: container.viewContext)
        author.name = "Emma"
    }

    @Test("An observer gets the key path, the object, the change and its own pointer")
    func notification() throws {
        var tag = 0
        withUnsafeMutablePointer(to: &tag) { pointer in
            author.addObserver(spy, forKeyPath: "name", options: [.old, .new], context: pointer)
            author.name = "Jane"
            #expect(spy.contexts == [UnsafeMutableRawPointer(pointer)])
            author.removeObserver(spy, forKeyPath: "name", context: pointer)
        }
        let heard = try #require(spy.heard.first)
        #expect(heard.keyPath == "name" && heard.object === author)
        #expect(heard.change[.kindKey] as? UInt == NSKeyValueChange.setting.rawValue)
        #expect(heard.change[.oldKey] as? String == "Emma" && heard.change[.newKey] as? String == "Jane")
        #expect(heard.change[.notificationIsPriorKey] == nil)
    }

    @Test("NSNull stands for no value")
    func noValue() {
        author.addObserver(spy, forKeyPath: "nickname", options: [.old, .new], context: nil)
        author.nickname = "J."
        author.nickname = nil
        #expect(spy.old == ["nothing", "J."] && spy.new == ["J.", "nothing"])
        author.removeObserver(spy, forKeyPath: "nickname")
    }

    @Test("The notification before a change says that it comes before")
    func prior() {
        author.addObserver(spy, forKeyPath: "name", options: [.prior, .new], context: nil)
        author.name = "Jane"
        #expect(spy.heard.map { $0.change[.notificationIsPriorKey] as? Bool } == [true, nil])
        #expect(spy.new == ["-", "Jane"])
        author.removeObserver(spy, forKeyPath: "name")
    }

    @Test("A removed observer hears nothing, and the registration that its pointer names is the one that ends")
    func removal() {
        var (first, second) = (0, 0)
        withUnsafeMutablePointer(to: &first) { first in
            withUnsafeMutablePointer(to: &second) { second in
                author.addObserver(spy, forKeyPath: "name", context: first)
                author.addObserver(spy, forKeyPath: "name", context: second)
                author.removeObserver(spy, forKeyPath: "name", context: first)
                author.name = "Jane"
                #expect(spy.contexts == [UnsafeMutableRawPointer(second)])
                author.removeObserver(spy, forKeyPath: "name")
                author.name = "Anne"
                #expect(spy.heard.count == 1)
            }
        }
    }

    @Test("An observer that is gone ends its observation")
    func observerGone() {
        var other: Spy? = Spy()
        weak let remaining = other
        author.addObserver(other ?? spy, forKeyPath: "name", context: nil)
        other = nil
        #expect(remaining == nil)
        author.name = "Jane"
        #expect(author.observationInfo == nil)
    }

    @Test("observationInfo is there as long as there are observers")
    func info() {
        #expect(author.observationInfo == nil)
        author.addObserver(spy, forKeyPath: "name", context: nil)
        #expect(author.observationInfo != nil)
        author.removeObserver(spy, forKeyPath: "name")
        #expect(author.observationInfo == nil)
    }

    @Test("Several observers hear of a change in the order of their registration")
    func order() {
        var heard: [Int] = []
        let spies = (0..<4).map { number in
            let spy = Spy()
            spy.reaction = { heard.append(number) }
            return spy
        }
        for spy in spies { author.addObserver(spy, forKeyPath: "name", context: nil) }
        author.name = "Jane"
        #expect(heard == [0, 1, 2, 3])
        for spy in spies { author.removeObserver(spy, forKeyPath: "name") }
    }

    @Test("An observer that another one removes within a notification hears no more of this change")
    func removalWithin() {
        let second = Spy()
        author.addObserver(spy, forKeyPath: "name", context: nil)
        author.addObserver(second, forKeyPath: "name", context: nil)
        spy.reaction = {
            spy.reaction = nil
            author.removeObserver(second, forKeyPath: "name")
            author.removeObserver(spy, forKeyPath: "name")
        }
        author.name = "Jane"
        author.name = "Anne"
        #expect(spy.heard.count == 1 && second.heard.isEmpty)
    }

    @Test("An observer that comes within a notification hears of the next change")
    func additionWithin() {
        let second = Spy()
        author.addObserver(spy, forKeyPath: "name", context: nil)
        spy.reaction = {
            spy.reaction = nil
            author.addObserver(second, forKeyPath: "name", options: .new, context: nil)
        }
        author.name = "Jane"
        #expect(second.heard.isEmpty)
        author.name = "Anne"
        #expect(second.new == ["Anne"])
        author.removeObserver(second, forKeyPath: "name")
        author.removeObserver(spy, forKeyPath: "name")
    }

    @Test("A change that an observer makes within a notification is reported, too")
    func changeWithin() {
        author.addObserver(spy, forKeyPath: "name", options: [.old, .new], context: nil)
        spy.reaction = { [author] in if author.name == "Jane" { author.name = "Jane II" } }
        author.name = "Jane"
        #expect(spy.new == ["Jane", "Jane II"] && spy.old == ["Emma", "Jane"])
        author.removeObserver(spy, forKeyPath: "name")
    }

    @Test("A computed property is reported with the properties that the class names for it")
    func dependent() {
        author.addObserver(spy, forKeyPath: "fullName", options: [.old, .new], context: nil)
        author.nickname = "E."
        author.age = 3
        author.name = "Jane"
        #expect(spy.old == ["Emma “”", "Emma “E.”"] && spy.new == ["Emma “E.”", "Jane “E.”"])
        author.removeObserver(spy, forKeyPath: "fullName")
    }

    @Test("A property that is not in the model is reported by its setter, and leaves the object unchanged")
    func unmodeled() throws {
        try context.save()
        author.addObserver(spy, forKeyPath: "mood", options: [.old, .new], context: nil)
        author.mood = "angry"
        #expect(spy.old == ["calm"] && spy.new == ["angry"])
        #expect(!author.hasChanges && !context.hasChanges)
        author.removeObserver(spy, forKeyPath: "mood")
    }

    @Test("Within a key path that leads through a relationship, the object there is watched, too")
    func path() {
        let book = ObservedBook(context: context)
        book.addObserver(spy, forKeyPath: "author.name", options: [.old, .new], context: nil)
        book.author = author
        author.name = "Jane"
        context.delete(author)
        context.processPendingChanges()
        #expect(spy.new.prefix(2) == ["Emma", "Jane"] && spy.heard.allSatisfy { $0.object === book })
        book.removeObserver(spy, forKeyPath: "author.name")
        #expect(author.observationInfo == nil)
    }

    @Test("A key path that depends on itself is followed once")
    func circle() {
        let shelf = context.make("Shelf")
        let book = ObservedBook(context: context)
        book.setValue(shelf, forKey: "shelf")
        shelf.addObserver(spy, forKeyPath: "book.shelf.book.title", options: .new, context: nil)
        book.title = "A"
        #expect(spy.new == ["A"])
        shelf.removeObserver(spy, forKeyPath: "book.shelf.book.title")
    }

    @Test("A managed object can be an observer, by overriding observeValue")
    func objectAsObserver() {
        let book = ObservedBook(context: context)
        author.addObserver(book, forKeyPath: "observed", context: nil)
        author.removeObserver(book, forKeyPath: "observed")
        #expect(author.observationInfo == nil)
    }
}
