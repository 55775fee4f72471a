//! Files that are tests of workflows.

use crate::tools::{World, block_on, performer};
use hostler_lua::body::Input;
use hostler_model::workflow::{StepEnd, StepResult};

const PIPELINE: &str = "
workflow({ name = 'pipeline', tasks = {
  { name = 'who', run = function()
      local r = aws.exec({ 'sts', 'get-caller-identity' })
      if not r.success then return { failed = true, message = 'no answer' } end
      local found = data.parse_json(r.stdout)
      if found.Account == '1' then return true, 'the right one', { account = '1' } end
      return false, 'the wrong one'
  end },
  { name = 'next', depends_on = 'who', command = function(this, params, deps)
      return true, 'for ' .. deps.who.account
  end },
  { name = 'line', command = 'echo hello' },
} })
";

fn carried_out(world: &World, text: &str) -> StepResult {
    let performer = performer(text).unwrap();
    assert_eq!(performer.definition().workflows.len(), 1);
    assert!(performer.definition().remarks.is_empty(), "{:?}", performer.definition().remarks);
    block_on(performer.step("test", "main", Input::default(), world.acting()))
}

#[test]
fn tasks_are_tried_with_mocks_and_nothing_else_is_carried_out() {
    let world = World::new();
    world.program("aws", "echo '{}'");
    let text = format!(
        "{PIPELINE}
test.describe('pipeline', function()
  test.it('is for the right account', function()
    test.mock('aws.exec', {{ returns = {{ {{ success = true, stdout = '{{\"Account\": \"1\"}}' }} }} }})
    local r = test.run_task('who')
    assert.is_true(r.success, 'it should go well')
    assert.equals(r.message, 'the right one')
    assert.equals(test.run_task('next').message, 'for 1')
    assert(r.error == nil and r.duration >= 0, 'plain assert is still there')
  end)
  test.it(function()
    test.mock('aws.exec', {{ returns = {{ {{ success = false }} }} }})
    local r = test.run_task('who')
    assert.is_false(r.success)
    assert.equals(r.error, 'no answer')
  end)
  test.it('runs lines', function()
    assert.contains(test.run_task('line').output.stdout, 'hello')
  end)
end)"
    );
    let result = carried_out(&world, &text);
    assert_eq!((result.end, result.message.as_str()), (StepEnd::Succeeded, ""));
    assert!(world.calls().is_empty(), "nothing that is mocked is run: {:?}", world.calls());
    let said = world.said.0.borrow().clone();
    assert!(said.contains(&"✓ pipeline: is for the right account".to_owned()), "{said:?}");
    assert!(said.contains(&"✓ pipeline: test 2".to_owned()), "{said:?}");
}

#[test]
fn every_test_is_run_and_one_failure_is_enough() {
    let world = World::new();
    world.program("aws", "echo '{}'");
    let text = format!(
        "{PIPELINE}
test.describe('a', function()
  test.it('fails', function() assert.equals('hello', 'world', 'greeting') end)
  test.it('knows no mock of others', function()
    test.mock('aws.exec', {{ returns = {{ 1 }} }})
  end)
  test.it('asks for real', function() assert.equals(test.run_task('who').success, false) end)
  test.it('has no such task', function() test.run_task('none') end)
end)
test.describe('b', function() test.it('is run, too', function() end) end)"
    );
    let result = carried_out(&world, &text);
    assert_eq!(result.end, StepEnd::Failed);
    assert_eq!(result.message, "2 of 5 tests failed: a: fails, a: has no such task");
    let said = world.said.0.borrow().join("\n");
    assert!(said.contains("✗ a: fails: greeting: world was expected, and it is hello"), "{said}");
    assert!(said.contains("✓ b: is run, too"), "{said}");
    assert_eq!(world.calls(), ["aws|sts|get-caller-identity"]);
}
