from hypothesis import given
from tests.strategies import filters, messages_near, wide_attributes, predicates, messages
from hypothesis import strategies as st
@given(st.data())
def test_x(data):
    f = data.draw(filters())
    m = data.draw(messages_near(f))
    data.draw(predicates()); data.draw(messages()); data.draw(wide_attributes())
