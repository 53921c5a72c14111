import CoreData
import Testing

@Suite("Contexts that would be their own parents")
struct ParentCircleTests {
    @Test(
        "A context whose parents lead back to it is refused with a message, however many there are between",
        arguments: [1, 2, 3])
    func circle(length: Int) async {
        // The closure runs in a process of its own, and captures nothing.
        let result =
            switch length {
            case 1:
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    Self.closeCircle(of: 1)
                }
            case 2:
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    Self.closeCircle(of: 2)
                }
            default:
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    Self.closeCircle(of: 3)
                }
            }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("parent"))
    }

    private static func closeCircle(of length: Int) {
        let contexts = (0..<length).map { _ in NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) }
        for (index, context) in contexts.enumerated() { context.parent = contexts[(index + 1) % length] }
    }

    @Test("A parent can be changed to any other context") func another() {
        let contexts = (0..<3).map { _ in NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) }
        contexts[0].parent = contexts[1]
        contexts[0].parent = contexts[2]
        contexts[1].parent = contexts[2]
        contexts[0].parent = contexts[1]
        #expect(contexts[0].parent === contexts[1])
        contexts[0].parent = nil
        contexts[1].parent = contexts[0]
        #expect(contexts[1].parent === contexts[0])
    }
}
