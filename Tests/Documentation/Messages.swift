// Code that one may write first and that cannot compile: the compiler's message says what to write instead.
// Tests/Scripts/test-documentation-code compares the messages.
import Pippin

@CoreModel struct Message {
    let id: String
    var text: String
    var isRead: Bool
}

func first(_ manager: PersistenceManager) async throws {
    // expected-error@+1 {{a store cannot call a closure: write where: #Predicate}}
    _ = try await manager.fetch(Message.self, where: { $0.text.contains("x") })
    // expected-error@+1 {{write where: \\.isRead == true}}
    _ = try await manager.fetch(Message.self, where: \.isRead)
    // expected-error@+1 {{key path cannot refer to instance method 'contains'}}
    _ = try await manager.fetch(Message.self, where: \.text.contains("x"))
}
